import { useState } from "react";
import type { Attempt, Webhook } from "../../../client/generated/operations.ts";
import { api, shownItems, useChange, useList, useRead } from "../../api/queries.ts";
import { BulkActions, type BulkAction } from "../../parts/bulk/bulk-actions.tsx";
import { useSelection } from "../../parts/bulk/use-selection.ts";
import { useSearchParams } from "../../parts/search.ts";
import { useCanWrite } from "../../parts/session-context.tsx";
import { showFailure, showToast } from "../../parts/toasts.tsx";
import { Button, TextLink } from "../../parts/button.tsx";
import { Id } from "../../parts/copy-button.tsx";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { ReceivedResponse, SentRequest } from "../../parts/exchange.tsx";
import { inputLook } from "../../parts/field.tsx";
import { formatDuration } from "../../parts/format.ts";
import { EmptyState, ErrorNotice } from "../../parts/notices.tsx";
import { Facts } from "../../parts/page.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { State } from "../../parts/state.tsx";
import { Time } from "../../parts/time.tsx";
import { TraceLink } from "../../parts/trace-link.tsx";
import { EventPayload } from "./event-payload.tsx";
import { text } from "./strings.ts";

const refreshMs = 5_000;
type Outcome = Attempt["outcome"];
const outcomes = Object.keys(text.outcomes) as readonly Outcome[];

const sendAgain: BulkAction<Attempt> = {
  label: text.retry,
  done: text.retriedSome,
  // A test has no source, and is not sent again.
  applies: ({ outcome, source_id: source }) => outcome !== "delivered" && source !== null,
  perform: ({ delivery_id: id }) => api.call("retryDelivery", { path: { id } }),
  losesNothing: true,
};
const deliveryOf = ({ delivery_id: id }: Attempt): string => id;

/** The newest of the loaded attempts at each delivery: what is sent again is the delivery. */
function newestOfEach(attempts: readonly Attempt[]): readonly Attempt[] {
  const newest = new Map<string, Attempt>();
  for (const attempt of attempts) if (!newest.has(deliveryOf(attempt))) newest.set(deliveryOf(attempt), attempt);
  return [...newest.values()];
}

/** Attempts, newest first; outcome and event are in the address. */
export function AttemptsTab({ webhook }: { readonly webhook: Webhook }) {
  const [{ outcome = "", event_id: event = "" }, setSearch] = useSearchParams();
  const [shown, setShown] = useState<Attempt>();
  const chosen = outcomes.find((each) => each === outcome);
  const query = { ...(chosen === undefined ? {} : { outcome: chosen }), ...(event === "" ? {} : { event_id: event }) };
  const list = useList("listAttempts", { path: { id: webhook.id }, query }, { everyMs: refreshMs });
  const selection = useSelection(newestOfEach(shownItems(list)), deliveryOf, { webhook: webhook.id, ...query });
  const canWrite = useCanWrite();
  const columns: readonly Column<Attempt>[] = [
    { title: text.at, parts: 2, cell: ({ at_ms: ms }) => <Time ms={ms} /> },
    { title: text.outcome, parts: 2, cell: ({ outcome: each }) => <State state={each} label={text.outcomes[each]} /> },
    { title: text.status, cell: ({ response_status: status }) => status ?? text.none },
    {
      title: text.event,
      parts: 2,
      cell: (attempt) => (
        <button
          type="button"
          className="max-w-full truncate font-mono text-xs text-accent hover:underline"
          onClick={() => setShown(attempt)}
        >
          {attempt.event_id}
        </button>
      ),
    },
    { title: text.attempt, isSecondary: true, cell: ({ attempt }) => attempt },
    { title: text.duration, isSecondary: true, cell: ({ duration_ms: ms }) => formatDuration(ms) },
    { title: text.cause, parts: 3, isSecondary: true, cell: ({ cause }) => <bdi>{cause ?? ""}</bdi> },
  ];
  return (
    <>
      <div className="flex flex-wrap gap-2">
        <select
          aria-label={text.outcome}
          className={`${inputLook} max-w-48`}
          value={outcome}
          onChange={(change) => setSearch({ outcome: change.target.value })}
        >
          <option value="">{text.anyOutcome}</option>
          {outcomes.map((each) => (
            <option key={each} value={each}>
              {text.outcomes[each]}
            </option>
          ))}
        </select>
        <SearchField label={text.eventId} value={event} onChange={(value) => setSearch({ event_id: value.trim() }, { replaces: true })} />
      </div>
      <BulkActions selection={selection} actions={[sendAgain]} nameOf={({ event_id: id }) => id} />
      <DataTable
        label={text.tabs.attempts}
        columns={columns}
        list={list}
        keyOf={({ delivery_id: id, attempt }) => `${id} ${attempt}`}
        onOpen={setShown}
        selects={canWrite ? { selection, nameOf: ({ event_id: id, attempt }) => text.selectAttempt(id, attempt) } : undefined}
        empty={
          <EmptyState title={Object.keys(query).length === 0 ? text.noAttempts : text.noMatch}>
            {Object.keys(query).length === 0 ? (
              <p className="text-sm text-muted">{text.noAttemptsHint}</p>
            ) : (
              <Button onClick={() => setSearch({ outcome: undefined, event_id: undefined })}>{text.clear}</Button>
            )}
          </EmptyState>
        }
      />
      {shown !== undefined && <AttemptDialog webhook={webhook} attempt={shown} onClose={() => setShown(undefined)} />}
    </>
  );
}

interface AttemptDialogProps {
  readonly webhook: Webhook;
  readonly attempt: Attempt;
  readonly onClose: () => void;
}

/** An attempt with its request and response, and the button that sends the delivery again. */
function AttemptDialog({ webhook, attempt, onClose }: AttemptDialogProps) {
  const retry = useChange("retryDelivery", {
    invalidates: ["listAttempts", "listDeadLetters"],
    onDone: () => {
      showToast(text.retried);
      onClose();
    },
  });
  const { delivery_id: id, event_id: event, source_id: source, event_name: channel, response_status: status, cause } = attempt;
  const read = useRead("getDelivery", { path: { id } });
  const whole = read.data?.data.attempts.find((each) => each.attempt === attempt.attempt);
  return (
    <Dialog title={text.details} isOpen onClose={onClose} isWide>
      <Facts
        facts={[
          [text.outcome, <State key="outcome" state={attempt.outcome} label={text.outcomes[attempt.outcome]} />],
          [text.at, <Time key="at" ms={attempt.at_ms} />],
          [text.attempt, String(attempt.attempt)],
          [text.duration, formatDuration(attempt.duration_ms)],
          [text.event, <Id key="event" id={event} />],
          [text.channel, channel || text.defaultChannel],
          [
            text.trace,
            <TraceLink key="trace" id={id}>
              {text.openTrace}
            </TraceLink>,
          ],
          ...(source === null ? [] : [[text.source, <SourceLink key="source" source={source} event={event} />] as const]),
        ]}
      />
      <section aria-label={text.request} className="flex min-w-0 flex-col gap-2">
        <h3 className="font-semibold">{text.request}</h3>
        {whole === undefined || whole.request === null ? (
          <p className="font-mono text-xs">POST {webhook.url}</p>
        ) : (
          <SentRequest request={whole.request} />
        )}
        <p className="text-xs text-muted">{text.headerNote}</p>
        {source !== null && <EventPayload source={source} id={event} channel={channel} />}
      </section>
      <section aria-label={text.response} className="flex min-w-0 flex-col gap-2">
        <h3 className="font-semibold">{text.response}</h3>
        {whole === undefined ? (
          <p className="text-sm">{status === null ? text.noResponse : `HTTP ${status}`}</p>
        ) : (
          <ReceivedResponse attempt={whole} />
        )}
        {cause !== null && <ErrorNotice title={text.cause} error={new Error(cause)} />}
      </section>
      <Button
        className="self-start"
        disabled={retry.isPending}
        onClick={() => retry.mutate({ path: { id } }, { onError: (error) => showFailure(text.retryFailed, error) })}
      >
        {text.retry}
      </Button>
    </Dialog>
  );
}

function SourceLink({ source, event }: { readonly source: string; readonly event: string }) {
  if (source.startsWith("p_"))
    return (
      <TextLink to="/workflows/$id" params={{ id: source } as never}>
        {source}
      </TextLink>
    );
  return (
    <TextLink to="/sources/$id" params={{ id: source } as never} search={{ event } as never}>
      {source}
    </TextLink>
  );
}
