import { sql } from "kysely";
import type { Readiness, ReadinessCheck } from "../../api/http/telemetry/readiness.ts";
import { Unavailable } from "../../domain/errors.ts";
import { pause } from "../../domain/retry.ts";
import { pingBuilder } from "../jetstream/requests/build-requests.ts";
import type { Connection } from "../jetstream/connection/connection.ts";
import { requestOperatorStatus } from "../jetstream/requests/operator-status.ts";
import { isFull, streamUsage } from "../jetstream/streams/stream-limits.ts";
import { missingStreams } from "../jetstream/streams/streams.ts";
import type { Database } from "../postgres/connection.ts";
import type { Logger } from "./logger.ts";

/** All that is needed to save and run a component (decision 0021). */
export function readinessChecks(connection: Connection, database: Pick<Database, "db">): readonly ReadinessCheck[] {
  const { nats } = connection;
  return [
    { name: "database", check: async () => void (await sql`select 1`.execute(database.db)) },
    { name: "streams", check: () => checkStreams(connection) },
    { name: "store", check: () => checkStore(connection) },
    { name: "builder", check: () => pingBuilder(nats) },
    { name: "operator", check: async () => void (await requestOperatorStatus(nats)) },
    { name: "runners", check: async () => checkRunners(await requestOperatorStatus(nats)) },
  ];
}

async function checkStreams(connection: Connection): Promise<void> {
  if (connection.status() !== "connected") throw new Unavailable("NATS cannot be reached");
  const missing = await missingStreams(connection);
  if (missing === undefined) throw new Unavailable("there are no streams yet: run --setup, or start the operator");
  if (missing.length > 0) throw new Unavailable(`streams are missing: ${missing.join(", ")}`);
}

/** A full stream refuses new messages; accepted work continues. */
async function checkStore(connection: Connection): Promise<void> {
  const full = (await streamUsage(connection)).filter(isFull);
  if (full.length === 0) return;
  const which = full.map(({ stream, bytes, maxBytes }) => `${stream} holds ${bytes} of ${maxBytes} bytes`).join(", ");
  throw new Unavailable(`the store of NATS is full: ${which}`);
}

/** A pool that scaled to zero is ready: the operator starts a runner for the first invocation. */
function checkRunners({ runners, mayScaleToZero }: Awaited<ReturnType<typeof requestOperatorStatus>>): void {
  if (runners === 0 && !mayScaleToZero) throw new Unavailable("no runner of the default pool is alive");
}

const pollMs = 50;
const logEveryMs = 10_000;

/** Waits until all checks pass, except for the store, which drains only once everything runs. Logs failing checks every 10 s. */
export async function waitUntilReady(readiness: Pick<Readiness, "read">, logger: Pick<Logger, "warn">): Promise<void> {
  let loggedAt = performance.now();
  for (;;) {
    const { ready, checks: outcomes } = await readiness.read();
    if (ready || Object.entries(outcomes).every(([name, outcome]) => outcome === "ok" || name === "store")) return;
    if (performance.now() - loggedAt > logEveryMs) {
      loggedAt = performance.now();
      logger.warn({ op: "process.ready", checks: outcomes }, "waiting for failing readiness checks");
    }
    await pause(pollMs);
  }
}
