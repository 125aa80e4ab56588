import { useState } from "react";
import type { Variable } from "../../../client/generated/operations.ts";
import { useChange, useRead } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { DeleteButton } from "../../parts/delete-button.tsx";
import { EmptyState, Loaded } from "../../parts/notices.tsx";
import { Page } from "../../parts/page.tsx";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { State } from "../../parts/state.tsx";
import { Time } from "../../parts/time.tsx";
import { showToast } from "../../parts/toasts.tsx";
import { text } from "./strings.ts";
import { VariableDialog } from "./variable-dialog.tsx";

const stateOf = ({ healthy }: Variable): readonly [state: string, label: string] =>
  healthy === null ? ["unknown", text.unchecked] : healthy ? ["healthy", text.healthy] : ["unhealthy", text.unhealthy];

export function VariablesPage() {
  const [shown, setShown] = useState<Variable | "new">();
  const list = useRead("listVariables", { query: useOwnerQuery() });
  const variables = list.data?.data ?? [];
  return (
    <Page
      title={text.title}
      actions={
        <Button kind="primary" onClick={() => setShown("new")}>
          {text.create}
        </Button>
      }
    >
      <Loaded isLoading={list.isPending} error={list.error} retry={() => void list.refetch()}>
        {variables.length === 0 ? (
          <EmptyState title={text.empty}>
            <p className="text-sm text-muted">{text.emptyHint}</p>
          </EmptyState>
        ) : (
          <ul aria-label={text.title} className="flex flex-col gap-3">
            {variables.map((variable) => (
              <VariableRow key={variable.name} variable={variable} onOpen={() => setShown(variable)} />
            ))}
          </ul>
        )}
      </Loaded>
      {shown !== undefined && <VariableDialog variable={shown === "new" ? undefined : shown} onClose={() => setShown(undefined)} />}
    </Page>
  );
}

function VariableRow({ variable, onOpen }: { readonly variable: Variable; readonly onOpen: () => void }) {
  const { name, value, secret, origin, problem, updated_at: changed } = variable;
  const [state, label] = stateOf(variable);
  const query = useOwnerQuery();
  const remove = useChange("deleteVariable", { invalidates: ["listVariables"], onDone: () => showToast(text.deleted(name)) });
  return (
    <li className="flex min-w-0 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line pb-3 text-sm">
      {origin === "own" ? (
        <button type="button" className="min-w-0 flex-1 basis-40 truncate text-left font-mono text-accent hover:underline" onClick={onOpen}>
          <bdi>{name}</bdi>
        </button>
      ) : (
        <bdi className="min-w-0 flex-1 basis-40 truncate font-mono">{name}</bdi>
      )}
      <bdi className="min-w-0 flex-1 basis-40 truncate">{secret ? <em className="text-muted">{text.secretValue}</em> : value}</bdi>
      <span className="text-muted">
        {text.origin} {origin === "own" ? text.own : text.shared}
      </span>
      <span title={problem ?? undefined}>
        <State state={state} label={label} />
      </span>
      <span className="text-muted">
        {text.changed} <Time ms={Date.parse(changed)} />
      </span>
      {origin === "own" && (
        <DeleteButton
          label={text.delete}
          name={name}
          action={text.delete}
          isPending={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate({ path: { name }, query })}
        >
          {text.deleteText}
        </DeleteButton>
      )}
    </li>
  );
}
