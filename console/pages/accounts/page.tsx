import { useState } from "react";
import type { Account } from "../../../client/generated/operations.ts";
import { useChange, useList } from "../../api/queries.ts";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { showToast } from "../../parts/toasts.tsx";
import { Button } from "../../parts/button.tsx";
import { Id } from "../../parts/copy-button.tsx";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { DeleteButton } from "../../parts/delete-button.tsx";
import { EmptyState } from "../../parts/notices.tsx";
import { Page } from "../../parts/page.tsx";
import { State } from "../../parts/state.tsx";
import { Time } from "../../parts/time.tsx";
import { AccountDialog } from "./account-dialog.tsx";
import { text } from "./strings.ts";

const refreshMs = 15_000;

const healthOf = ({ healthy }: Account): readonly [state: string, label: string] =>
  healthy === null ? ["unknown", text.unchecked] : healthy ? ["healthy", text.healthy] : ["unhealthy", text.unhealthy];

export function AccountsPage() {
  const [shown, setShown] = useState<Account | "new">();
  const list = useList("listMyAccounts", { query: useOwnerQuery() }, { everyMs: refreshMs });
  const create = (
    <Button kind="primary" onClick={() => setShown("new")}>
      {text.create}
    </Button>
  );
  const columns: readonly Column<Account>[] = [
    {
      title: text.name,
      parts: 3,
      cell: (account) => (
        <button type="button" className="max-w-full truncate text-left text-accent hover:underline" onClick={() => setShown(account)}>
          <bdi>{account.name}</bdi>
        </button>
      ),
    },
    { title: text.app, parts: 2, cell: ({ app }) => <bdi>{app?.name_slug ?? ""}</bdi> },
    {
      title: text.health,
      parts: 3,
      cell: (account) => {
        const [state, label] = healthOf(account);
        return (
          <span title={account.problem ?? undefined}>
            <State state={state} label={label} />
          </span>
        );
      },
    },
    { title: "Id", parts: 3, isSecondary: true, cell: ({ id }) => <Id id={id} /> },
    { title: text.changed, parts: 2, isSecondary: true, cell: ({ updated_at: at }) => <Time ms={Date.parse(at)} /> },
    { title: text.delete, parts: 2, isSecondary: true, cell: (account) => <DeleteAccount account={account} /> },
  ];
  return (
    <Page title={text.title} actions={create}>
      <DataTable
        label={text.title}
        columns={columns}
        list={list}
        keyOf={({ id }) => id}
        onOpen={setShown}
        empty={
          <EmptyState title={text.empty}>
            <p className="text-sm text-muted">{text.emptyHint}</p>
          </EmptyState>
        }
      />
      {shown !== undefined && <AccountDialog account={shown === "new" ? undefined : shown} onClose={() => setShown(undefined)} />}
    </Page>
  );
}

function DeleteAccount({ account }: { readonly account: Account }) {
  const remove = useChange("deleteAccount", { invalidates: ["listMyAccounts"], onDone: () => showToast(text.deleted(account.name)) });
  return (
    <DeleteButton
      label={text.delete}
      name={account.name}
      action={text.delete}
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate({ path: { id: account.id } })}
    >
      {text.deleteText}
    </DeleteButton>
  );
}
