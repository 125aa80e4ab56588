import { useState } from "react";
import type { Account } from "../../../client/generated/operations.ts";
import { useChange, useList, useRead } from "../../api/queries.ts";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { showToast } from "../../parts/toasts.tsx";
import { Button } from "../../parts/button.tsx";
import { Id } from "../../parts/copy-button.tsx";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { DeleteButton } from "../../parts/delete-button.tsx";
import { useSearchParams } from "../../parts/search.ts";
import { Mark } from "../../parts/marks/mark.tsx";
import { EmptyState, ErrorNotice } from "../../parts/notices.tsx";
import { Page } from "../../parts/page.tsx";
import { State } from "../../parts/state.tsx";
import { Time } from "../../parts/time.tsx";
import { AccountDialog } from "./account-dialog.tsx";
import { ConnectDialog } from "../../parts/accounts/connect-dialog.tsx";
import { text } from "./strings.ts";
import { Uses } from "./uses.tsx";

const refreshMs = 15_000;

const healthOf = ({ healthy, needs_reconnect: isOver }: Account): readonly [state: string, label: string] =>
  isOver
    ? ["unhealthy", text.needsReconnect]
    : healthy === null
      ? ["unknown", text.unchecked]
      : healthy
        ? ["healthy", text.healthy]
        : ["unhealthy", text.unhealthy];

export function AccountsPage() {
  const [shown, setShown] = useState<Account | "new">();
  const [connecting, setConnecting] = useState<Account | "new">();
  const [{ reconnect: linked }, setSearch] = useSearchParams();
  const list = useList("listMyAccounts", { query: useOwnerQuery() }, { everyMs: refreshMs });
  const create = (
    <div className="flex gap-2">
      <Button onClick={() => setShown("new")}>{text.create}</Button>
      <Button kind="primary" onClick={() => setConnecting("new")}>
        {text.connect}
      </Button>
    </div>
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
    { title: text.app, parts: 2, cell: ({ app }) => app !== null && <AppCell app={app} /> },
    {
      title: text.health,
      parts: 3,
      cell: (account) => {
        const [state, label] = healthOf(account);
        return (
          <span title={account.problem ?? undefined} className="flex items-center gap-2">
            <State state={state} label={label} />
            {account.needs_reconnect && <Button onClick={() => setConnecting(account)}>{text.reconnect}</Button>}
          </span>
        );
      },
    },
    { title: text.scopes, parts: 3, isSecondary: true, cell: ({ connection }) => <bdi>{connection?.scopes.join(" ") ?? ""}</bdi> },
    {
      title: text.refreshed,
      parts: 2,
      isSecondary: true,
      cell: ({ refreshed_at: at }) => (at === null ? "" : <Time ms={Date.parse(at)} />),
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
      {linked !== undefined && <LinkedDialog id={linked} onClose={() => setSearch({ reconnect: undefined })} />}
      {connecting !== undefined && (
        <ConnectDialog account={connecting === "new" ? undefined : connecting} onClose={() => setConnecting(undefined)} />
      )}
      {shown !== undefined && <AccountDialog account={shown === "new" ? undefined : shown} onClose={() => setShown(undefined)} />}
    </Page>
  );
}

function AppCell({ app: { name_slug: slug, name } }: { readonly app: NonNullable<Account["app"]> }) {
  return (
    <span className="flex items-center gap-2">
      <Mark app={slug} name={name} />
      <bdi className="truncate">{slug}</bdi>
    </span>
  );
}

/** Mails about accounts that must be connected again lead here. */
function LinkedDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { data, error } = useRead("getAccount", { path: { id } });
  if (error !== null) return <ErrorNotice title={text.notConnected} error={error} />;
  return data === undefined ? null : <ConnectDialog account={data.data} onClose={onClose} />;
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
      <p>{text.deleteText}</p>
      <Uses account={account.id} />
    </DeleteButton>
  );
}
