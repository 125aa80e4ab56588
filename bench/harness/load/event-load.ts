import type { Commit } from "../../../domain/run/commit.ts";
import { emptyState } from "../../../domain/run/commit.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { runSubject } from "../../../domain/subjects.ts";
import { connect } from "../../../platform/jetstream/connection/connection.ts";
import { freePort } from "../../../platform/process/free-port.ts";
import type { NatsConnection } from "../../../platform/process/nats/nats-connection.ts";
import { orders, reply } from "../child.ts";
import { endpointAnswers } from "../measure/endpoint-answers.ts";
import { EventLedger } from "../measure/event-ledger.ts";
import type { EventGroup, EventOrder } from "./events.ts";
import { startReceiver } from "../baseline/raw-http.ts";

/**
 * Emitters and webhook endpoints in one process: commits as runners write them go onto RUNS, their events come back. What it takes is
 * not counted; the work of NATS is. Each order is answered when it is done.
 */
const { nats, owner, receivers } = await orders<{ readonly nats: NatsConnection; readonly owner: string; readonly receivers: number }>();
const connection = await connect({ server: nats, name: "bench events" });
const now = (): number => performance.timeOrigin + performance.now();
const ledger = new EventLedger(now);
const answers = endpointAnswers(now);
const stopped = new Map<string, AbortController>();
const prefix = Date.now().toString(36);
let numbered = 0;

async function publish(group: EventGroup, source: string, onAll?: () => void): Promise<void> {
  const ids = Array.from({ length: group.perCommit }, () => `${prefix}n${numbered++}`);
  let awaited = ids.length;
  const onOne = onAll && (() => void (--awaited === 0 && onAll()));
  for (const id of ids) ledger.sent(group.name, id, group.listeners, onOne);
  await connection.publisher.publish(
    runSubject(partitionOf(source), owner, source),
    JSON.stringify(commitOf(source, ids, group)),
    // Without it a commit whose acknowledgement is lost would not be sent again.
    { messageId: ids[0] ?? "" },
  );
}

function commitOf(source: string, ids: readonly string[], { name, padding }: EventGroup): Commit {
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
      payload: JSON.stringify({ group: name, id, pad: "x".repeat(padding) }),
    })),
    logs: [],
    error: null,
    state: emptyState,
  };
}

async function start(group: EventGroup): Promise<void> {
  const { pace, sources } = group;
  const ending = new AbortController();
  stopped.set(group.name, ending);
  switch (pace.kind) {
    case "steady":
      return sendSteadily(group, pace.perSecond, ending.signal);
    case "saturated":
      for (const source of sources) for (let n = 0; n < pace.commitsPerSource; n++) keepBusy(group, source, ending.signal);
      return;
    case "once":
      return sendOnce(group, pace.events);
  }
}

/** By the clock, not by the timer: a late timer sends what it missed. */
function sendSteadily(group: EventGroup, perSecond: number, signal: AbortSignal): void {
  const startedAt = now();
  let sent = 0;
  const timer = setInterval(() => {
    for (const due = ((now() - startedAt) / 1_000) * perSecond; sent < due; sent += group.perCommit)
      publish(group, group.sources[(sent / group.perCommit) % group.sources.length] ?? "").catch(logError);
  }, 2);
  signal.addEventListener("abort", () => clearInterval(timer));
}

function keepBusy(group: EventGroup, source: string, signal: AbortSignal): void {
  if (signal.aborted) return;
  publish(group, source, () => keepBusy(group, source, signal)).catch(logError);
}

/** As fast as it is stored. */
async function sendOnce(group: EventGroup, events: number): Promise<void> {
  let left = Math.ceil(events / group.perCommit);
  const inTurn = async (first: number): Promise<void> => {
    for (let turn = first; left-- > 0; turn += 32) await publish(group, group.sources[turn % group.sources.length] ?? "");
  };
  await Promise.all(Array.from({ length: 32 }, (_, index) => inTurn(index)));
}

const logError = (error: unknown): void => void process.stderr.write(`an event could not be published: ${String(error)}\n`);

async function obey(order: EventOrder): Promise<object> {
  switch (order.do) {
    case "start":
      await start(order.group);
      return {};
    case "stop":
      stopped.get(order.group)?.abort();
      return {};
    case "report":
      return ledger.report();
    case "wait":
      return { waiting: ledger.waiting(order.group) };
    case "up":
      answers.up();
      return {};
  }
}

const onBody = (body: string, path: string, status: number): void => void (status === 200 && ledger.onBody(body, path));
const started = await Promise.all(Array.from({ length: receivers }, () => startReceiver(onBody, answers.answerTo)));
process.on("message", (order: EventOrder) => void obey(order).then(reply, logError));
reply({ ports: started.map(({ port }) => port), closedPort: await freePort() });
