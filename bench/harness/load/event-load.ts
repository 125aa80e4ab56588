import { partitionOf } from "../../../domain/invocation/partition.ts";
import { emptyState, type Commit } from "../../../domain/run/commit.ts";
import { runSubject } from "../../../domain/subjects.ts";
import { connect } from "../../../platform/jetstream/connection/connection.ts";
import type { NatsConnection } from "../../../platform/process/nats/nats-connection.ts";
import { startReceiver } from "../baseline/raw-http.ts";
import { orders, reply } from "../child.ts";
import { EventLedger } from "../measure/event-ledger.ts";
import type { EventLoad, EventOrder } from "./events.ts";

/**
 * Emitters and webhook endpoints in one process: it writes commits to RUNS as runners do, and receives their events. Its own CPU time is
 * not counted; that of NATS is. It answers each order with a report.
 */
const { nats, owner, endpoints } = await orders<{ readonly nats: NatsConnection; readonly owner: string; readonly endpoints: number }>();
const connection = await connect({ server: nats, name: "bench events" });
const ledger = new EventLedger();
const prefix = Date.now().toString(36);
let stopping = new AbortController();
let numbered = 0;

async function publish(load: EventLoad, source: string, onAll: () => void): Promise<void> {
  const ids = Array.from({ length: load.eventsPerCommit }, () => `${prefix}n${numbered++}`);
  let waiting = ids.length;
  for (const id of ids) ledger.sent(id, () => void (--waiting === 0 && onAll()));
  await connection.publisher.publish(
    runSubject(partitionOf(source), owner, source),
    JSON.stringify(commitOf(source, ids, load)),
    // Without it a commit whose acknowledgement is lost would not be sent again.
    { messageId: ids[0] ?? "" },
  );
}

function commitOf(source: string, ids: readonly string[], { padding }: EventLoad): Commit {
  const at = Date.now();
  return {
    source,
    owner,
    deployment: `d_${source.slice(3)}g1`,
    run: { id: `r${ids[0]}`, trigger: "manual", generation: 1, startedAt: at, durationMs: 1, cpuMs: 1, result: null },
    events: ids.map((id, index) => ({
      id: `${at}-${numbered + index}`,
      emitId: id,
      channel: "",
      dedupeId: null,
      summary: null,
      ts: at,
      payload: JSON.stringify({ id, pad: "x".repeat(padding) }),
    })),
    logs: [],
    error: null,
    state: emptyState,
  };
}

function emit(load: EventLoad, source: string, signal: AbortSignal): void {
  if (signal.aborted) return;
  publish(load, source, () => emit(load, source, signal)).catch((error: unknown) =>
    process.stderr.write(`an event could not be published: ${String(error)}\n`),
  );
}

function obey(order: EventOrder): void {
  if (order.do === "stop") stopping.abort();
  if (order.do !== "start") return;
  stopping = new AbortController();
  const { sources, commitsPerSource } = order.load;
  for (const source of sources) for (let n = 0; n < commitsPerSource; n++) emit(order.load, source, stopping.signal);
}

const started = await Promise.all(Array.from({ length: endpoints }, () => startReceiver((body) => ledger.onBody(body))));
process.on("message", (order: EventOrder) => {
  obey(order);
  reply(ledger.report());
});
reply({ ports: started.map(({ port }) => port) });
