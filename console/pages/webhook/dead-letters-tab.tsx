import { useState } from "react";
import type { DeadLetter, Webhook } from "../../../client/generated/operations.ts";
import { useChange, useList, useMatching } from "../../api/queries.ts";
import { showFailure, showToast } from "../../parts/toasts.tsx";
import { Button } from "../../parts/button.tsx";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { ConfirmByName } from "../../parts/dialog.tsx";
import { EmptyState } from "../../parts/notices.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { useSearchParams } from "../../parts/search.ts";
import { Time } from "../../parts/time.tsx";
import { text } from "./strings.ts";

const refreshMs = 5_000;
/** A request to send some again takes so many. */
const maxChosen = 1_000;

/** Deliveries whose last attempt failed: sent again, some or all, or deleted. */
export function DeadLettersTab({ webhook }: { readonly webhook: Webhook }) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [{ cause = "" }, setSearch] = useSearchParams();
  const all = useList("listDeadLetters", { path: { id: webhook.id } }, { everyMs: refreshMs });
  const list = useMatching(all, (letter) => letter.cause.toLowerCase().includes(cause.toLowerCase()));
  const matching = list.items.slice(0, maxChosen).map(({ delivery_id: id }) => id);
  const redrive = useChange("redriveDeadLetters", {
    invalidates: ["listDeadLetters", "listAttempts"],
    onDone: ({ data }) => {
      showToast(text.redriven(data.queued));
      setChosen(new Set());
    },
  });
  const send = (deliveries: readonly string[] | undefined): void =>
    redrive.mutate(
      { path: { id: webhook.id }, body: deliveries === undefined ? {} : { deliveries } },
      { onError: (error) => showFailure(text.redriveFailed, error) },
    );
  const toggle = (id: string): void => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  return (
    <>
      {all.items.length > 0 && (
        <div className="flex flex-wrap gap-2">
          <SearchField label={text.filterCause} value={cause} onChange={(value) => setSearch({ cause: value }, { replaces: true })} />
          {cause !== "" && matching.length > 0 && (
            <Button onClick={() => setChosen(new Set(matching))}>{text.chooseMatching(matching.length)}</Button>
          )}
          {chosen.size > 0 && (
            <Button kind="primary" disabled={redrive.isPending} onClick={() => send([...chosen])}>
              {text.redriveSome(chosen.size)}
            </Button>
          )}
          <Button disabled={redrive.isPending} onClick={() => send(undefined)}>
            {text.redriveAll(all.total ?? 0)}
          </Button>
          <Purge webhook={webhook} />
        </div>
      )}
      <DataTable
        label={text.tabs.dead}
        columns={columnsOf(chosen, toggle)}
        list={list}
        keyOf={({ delivery_id: id }) => id}
        empty={
          <EmptyState title={cause === "" ? text.noDead : text.noDeadMatch}>
            {cause === "" && <p className="text-sm text-muted">{text.noDeadHint}</p>}
          </EmptyState>
        }
      />
    </>
  );
}

const columnsOf = (chosen: ReadonlySet<string>, toggle: (id: string) => void): readonly Column<DeadLetter>[] => [
  {
    title: text.event,
    parts: 3,
    cell: ({ delivery_id: id, event_id: event }) => (
      <label className="flex min-w-0 items-center gap-2">
        <input
          type="checkbox"
          aria-label={text.choose(event)}
          checked={chosen.has(id)}
          onChange={() => toggle(id)}
          className="size-4 shrink-0 accent-accent"
        />
        <span className="truncate font-mono text-xs">{event}</span>
      </label>
    ),
  },
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
