import type { LineHead, Webhook } from "../../../client/generated/operations.ts";
import { useRead } from "../../api/queries.ts";
import { Id } from "../../parts/copy-button.tsx";
import { formatCount } from "../../parts/format.ts";
import { Loaded } from "../../parts/notices.tsx";
import { Facts, Section } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { text } from "./strings.ts";

const refreshMs = 5_000;

/** Deliveries that wait; of an ordered webhook, also its queue. */
export function BacklogTab({ webhook }: { readonly webhook: Webhook }) {
  const read = useRead("getBacklog", { path: { id: webhook.id } }, { everyMs: refreshMs });
  const backlog = read.data?.data;
  return (
    <Loaded isLoading={read.isPending} error={backlog === undefined ? read.error : null} retry={() => void read.refetch()}>
      {backlog !== undefined && (
        <Section title={text.tabs.backlog}>
          {backlog.due + backlog.scheduled.count + backlog.line.count === 0 && <p className="text-sm text-muted">{text.nothing}</p>}
          <Facts
            facts={[
              [text.due, formatCount(backlog.due)],
              [text.scheduled, formatCount(backlog.scheduled.count)],
              [text.next, backlog.scheduled.next_at_ms === null ? text.none : <Time key="next" ms={backlog.scheduled.next_at_ms} />],
              [text.queued, formatCount(backlog.line.count)],
            ]}
          />
          {backlog.line.head !== null && <Head head={backlog.line.head} />}
        </Section>
      )}
    </Loaded>
  );
}

function Head({ head }: { readonly head: LineHead }) {
  return (
    <section aria-label={text.head} className="flex min-w-0 flex-col gap-2 border-t border-line pt-3">
      <h3 className="font-semibold">{text.head}</h3>
      <Facts
        facts={[
          [text.event, <Id key="event" id={head.event_id} />],
          [text.waits, <Time key="since" ms={head.waiting_since_ms} />],
          [text.headAttempts, String(head.attempts)],
          [text.next, head.next_attempt_at_ms === null ? text.none : <Time key="next" ms={head.next_attempt_at_ms} />],
          ...(head.last_attempt?.cause === undefined || head.last_attempt.cause === null
            ? []
            : [[text.cause, <bdi key="cause">{head.last_attempt.cause}</bdi>] as const]),
        ]}
      />
    </section>
  );
}
