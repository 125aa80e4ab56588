import { useState } from "react";
import type { DeadLetter, Webhook } from "../../../client/generated/operations.ts";
import { shownItems, useChange, useList, useMatching } from "../../api/queries.ts";
import { showFailure, showToast } from "../../parts/toasts.tsx";
import { Button } from "../../parts/button.tsx";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { ConfirmByName } from "../../parts/dialog.tsx";
import { EmptyState } from "../../parts/notices.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { useSelection } from "../../parts/bulk/use-selection.ts";
import { useCanWrite } from "../../parts/session-context.tsx";
import { useSearchParams } from "../../parts/search.ts";
import { Time } from "../../parts/time.tsx";
import { RedriveDialog } from "./redrive-dialog.tsx";
import { text } from "./strings.ts";

const refreshMs = 5_000;
/** A request to send some again takes so many. */
const maxChosen = 1_000;

/** Deliveries whose last attempt failed: sent again, some or all, or deleted. */
export function DeadLettersTab({ webhook }: { readonly webhook: Webhook }) {
  const [isOpen, setIsOpen] = useState(false);
  const [{ cause = "" }, setSearch] = useSearchParams();
  const all = useList("listDeadLetters", { path: { id: webhook.id } }, { everyMs: refreshMs });
  const list = useMatching(all, (letter) => letter.cause.toLowerCase().includes(cause.toLowerCase()));
  const selection = useSelection(shownItems(list), keyOf, { webhook: webhook.id, cause });
  const chosen = selection.items.slice(0, maxChosen).map(keyOf);
  const canWrite = useCanWrite();
  const redrive = useChange("redriveDeadLetters", {
    invalidates: ["listDeadLetters", "listAttempts", "redriveDeadLetters"],
    onDone: ({ data }, { body }) => {
      showToast(text.redriven(data.queued));
      // Beyond a thousand, the others stay selected.
      selection.remove(new Set(body?.deliveries));
    },
  });
  const send = (): void =>
    redrive.mutate(
      { path: { id: webhook.id }, body: { deliveries: chosen } },
      { onError: (error) => showFailure(text.redriveFailed, error) },
    );
  return (
    <>
      {all.items.length > 0 && (
        <div className="flex flex-wrap gap-2">
          <SearchField label={text.filterCause} value={cause} onChange={(value) => setSearch({ cause: value }, { replaces: true })} />
          {chosen.length > 0 && (
            <Button kind="primary" disabled={redrive.isPending} onClick={send}>
              {text.redriveSome(chosen.length)}
            </Button>
          )}
          <Button onClick={() => setIsOpen(true)}>{text.redriveAll(all.total ?? 0)}</Button>
          <Purge webhook={webhook} />
        </div>
      )}
      <DataTable
        label={text.tabs.dead}
        columns={columns}
        list={list}
        keyOf={keyOf}
        selects={canWrite ? { selection, nameOf: ({ event_id: event }) => event } : undefined}
        empty={
          <EmptyState title={cause === "" ? text.noDead : text.noDeadMatch}>
            {cause === "" && <p className="text-sm text-muted">{text.noDeadHint}</p>}
          </EmptyState>
        }
      />
      {isOpen && <RedriveDialog webhook={webhook} onClose={() => setIsOpen(false)} />}
    </>
  );
}

const keyOf = ({ delivery_id: id }: DeadLetter): string => id;

const columns: readonly Column<DeadLetter>[] = [
  { title: text.event, parts: 3, cell: ({ event_id: event }) => <span className="font-mono text-xs">{event}</span> },
  { title: text.died, parts: 2, cell: ({ died_at_ms: ms }) => <Time ms={ms} /> },
  { title: text.attempts, isSecondary: true, cell: ({ attempts }) => attempts },
  { title: text.cause, parts: 4, isSecondary: true, cell: ({ cause }) => <bdi>{cause}</bdi> },
];

function Purge({ webhook }: { readonly webhook: Webhook }) {
  const [isOpen, setIsOpen] = useState(false);
  const purge = useChange("purgeDeadLetters", {
    invalidates: ["listDeadLetters"],
    onDone: ({ data }) => {
      setIsOpen(false);
      showToast(text.purged(data.deleted));
    },
  });
  return (
    <>
      <Button kind="danger" onClick={() => setIsOpen(true)}>
        {text.purge}
      </Button>
      <ConfirmByName
        title={text.purgeTitle}
        name={webhook.name ?? webhook.url}
        action={text.purgeAction}
        isOpen={isOpen}
        isPending={purge.isPending}
        error={purge.error}
        onConfirm={() => purge.mutate({ path: { id: webhook.id } })}
        onClose={() => setIsOpen(false)}
      >
        {text.purgeText}
      </ConfirmByName>
    </>
  );
}
