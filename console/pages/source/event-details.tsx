import { useQuery } from "@tanstack/react-query";
import type { Attempt } from "../../../client/generated/operations.ts";
import { api, useList, useRead } from "../../api/queries.ts";
import { isListedId, readEvent } from "../../api/read-event.ts";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { TextLink } from "../../parts/button.tsx";
import { Id } from "../../parts/copy-button.tsx";
import { formatDuration } from "../../parts/format.ts";
import { Loaded } from "../../parts/notices.tsx";
import { Facts } from "../../parts/page.tsx";
import { State } from "../../parts/state.tsx";
import { Time } from "../../parts/time.tsx";
import { TraceLink } from "../../parts/trace-link.tsx";
import { Tree } from "../../parts/tree.tsx";
import { text } from "./strings.ts";

/** Webhooks of which attempts are read; each takes a request. */
const maxWebhooks = 20;

interface EventDetailsProps {
  readonly source: string;
  readonly id: string;
  /** Absent: the channel is found by the id. */
  readonly channel?: string | undefined;
}

/** An event as a tree, and its way: deliveries with their attempts, and runs of workflows. */
export function EventDetails({ source, id, channel }: EventDetailsProps) {
  const read = useQuery({
    queryKey: ["event", source, id],
    queryFn: ({ signal }) => readEvent(source, id, signal, channel),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const event = read.data;
  return (
    <Loaded isLoading={read.isPending} error={read.error} retry={() => void read.refetch()}>
      {event === null && <p className="text-sm text-muted">{text.eventGone}</p>}
      {event !== null && event !== undefined && (
        <div className="flex min-w-0 flex-col gap-4">
          <Facts
            facts={[
              ["Id", <Id key="id" id={id} />],
              [text.time, <Time key="time" ms={event.indexed_at_ms} />],
              [text.channel, event.metadata.name || text.defaultChannel],
              ["emit_id", <Id key="emit" id={event.metadata.emit_id} />],
              ...(isListedId(id)
                ? [
                    [
                      text.trace,
                      <TraceLink key="trace" id={`${source}.${id}`}>
                        {text.openTrace}
                      </TraceLink>,
                    ] as const,
                  ]
                : []),
            ]}
          />
          <div className="max-h-[50dvh] overflow-auto rounded-md bg-page p-3" tabIndex={0} role="group" aria-label={text.event}>
            <Tree value={event.event} />
          </div>
          <Deliveries source={source} event={id} />
          {isListedId(id) && <WorkflowRuns source={source} id={id} />}
        </div>
      )}
    </Loaded>
  );
}

type Delivered = Attempt & { readonly webhook: string };

/** Attempts of an event at the webhooks that are subscribed to its source. */
function useDeliveries(source: string, event: string) {
  const owner = useOwnerQuery();
  const subscriptions = useList("listMySubscriptions", { query: owner });
  const listeners = subscriptions.items.flatMap(({ emitter_id: emitter, listener_id: listener }) =>
    emitter === source && listener?.startsWith("wh_") === true ? [listener] : [],
  );
  const webhooks = [...new Set(listeners)].slice(0, maxWebhooks);
  return useQuery({
    queryKey: ["deliveries", event, webhooks],
    enabled: !subscriptions.isLoading,
    queryFn: async ({ signal }): Promise<readonly Delivered[]> => {
      const lists = await Promise.all(
        webhooks.map(async (webhook) => {
          const { data } = await api.call("listAttempts", { path: { id: webhook }, query: { event_id: event } }, { signal });
          return data.map((attempt) => ({ ...attempt, webhook }));
        }),
      );
      return lists.flat();
    },
  });
}

function Deliveries({ source, event }: { readonly source: string; readonly event: string }) {
  const deliveries = useDeliveries(source, event);
  const attempts = deliveries.data ?? [];
  return (
    <section aria-label={text.deliveries} className="flex flex-col gap-2">
      <h3 className="font-semibold">{text.deliveries}</h3>
      <Loaded isLoading={deliveries.isPending} error={deliveries.error}>
        {attempts.length === 0 && <p className="text-sm text-muted">{text.noDeliveries}</p>}
        <ul className="flex flex-col gap-1">
          {attempts.map(
            ({ delivery_id: delivery, attempt, webhook, outcome, at_ms: at, duration_ms: ms, response_status: status, cause }) => (
              <li key={`${delivery}-${attempt}`} className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
                <State state={outcome} />
                <TextLink to="/webhooks/$id" params={{ id: webhook } as never} search={{ tab: "attempts", event_id: event } as never}>
                  {webhook}
                </TextLink>
                <span>
                  {text.attempt} {attempt}
                </span>
                <Time ms={at} />
                <span className="text-muted">
                  {status ?? ""} {formatDuration(ms)}
                </span>
                {cause !== null && <span className="min-w-0 text-bad">{cause}</span>}
              </li>
            ),
          )}
        </ul>
      </Loaded>
    </section>
  );
}

function WorkflowRuns({ source, id }: { readonly source: string; readonly id: string }) {
  const runs = useRead("listRunsOfSourceEvent", { path: { id: source, event_id: id } });
  const items = runs.data?.data ?? [];
  if (items.length === 0) return null;
  return (
    <section aria-label={text.workflowRuns} className="flex flex-col gap-2">
      <h3 className="font-semibold">{text.workflowRuns}</h3>
      <ul className="flex flex-col gap-1 text-sm">
        {items.map((run) => (
          <li key={run.id} className="flex flex-wrap items-center gap-3">
            <State state={run.status} />
            <TraceLink id={run.id}>{run.workflow_id}</TraceLink>
            <Time ms={run.started_at_ms} />
          </li>
        ))}
      </ul>
    </section>
  );
}
