import { emptyState, type Commit } from "../../domain/run/commit.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import { partitionCount } from "../../domain/subjects.ts";
import { startOwnerLimits } from "../../delivery/record/owner-limits.ts";
import { Recorder } from "../../delivery/record/recorder.ts";
import type { DeliveryPorts } from "../../delivery/ports.ts";
import type { History } from "../../delivery/record/ports.ts";
import type { Reading } from "../../delivery/routing/ports.ts";
import { appendCommit } from "../../platform/jetstream/runs/commits.ts";
import type { Connection } from "../../platform/jetstream/connection/connection.ts";
import type { Database } from "../../platform/postgres/connection.ts";
import { deliveryPorts } from "../../wiring/roles/delivery-ports.ts";
import { createDeliveryHistory } from "../../platform/postgres/history/delivery-history.ts";
import { recordedRuns } from "../../platform/jetstream/streams/stream-identity.ts";

export const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Noon of the real day, by which entries end; tests advance it. */
export class TestClock {
  #offsetMs = 0;
  readonly #noon = Math.floor(Date.now() / 86_400_000) * 86_400_000 + 43_200_000;
  readonly #startedAt = performance.now();

  now(): number {
    return Math.round(this.#noon + (performance.now() - this.#startedAt) + this.#offsetMs);
  }

  pass(ms: number): void {
    this.#offsetMs += ms;
  }
}

/** The delivery role's parts that count usage and publish it; `change` intercepts the history. */
export async function startCounting(
  database: Database,
  connection: Connection,
  clock: DeliveryPorts["clock"],
  change: (history: History) => History = (history) => history,
): Promise<Reading> {
  const history = change(createDeliveryHistory(database, { ...(await recordedRuns(connection)), kept: { events: 100, logs: 100 } }));
  const none = (): never => {
    throw new Error("no deliveries in this test");
  };
  const parts = { history, poster: { post: none }, secrets: { open: none }, log: silent };
  const ports: DeliveryPorts = { ...deliveryPorts({ connection, ...parts }), clock };
  const recorder = new Recorder(ports);
  for (let partition = 0; partition < partitionCount; partition++) recorder.open(partition);
  const quotas = startOwnerLimits(ports);
  return { stop: async () => void (await Promise.all([recorder.stop(), quotas.stop(), ports.runs.close()])) };
}

const sequences = new Map<string, number>();

/** The commit of a run with the given start and duration. */
export async function commitRun(
  connection: Connection,
  owner: string,
  source: string,
  startedAt: number,
  durationMs: number,
): Promise<void> {
  const sequence = sequences.get(source) ?? 0;
  const run = { id: `r_${source}${sequence}`, trigger: "http", generation: 1, startedAt, durationMs, cpuMs: 1, result: null } as const;
  const commit: Commit = { source, owner, deployment: "d_1", run, events: [], logs: [], error: null, state: emptyState };
  const appended = await appendCommit(connection, { source, owner, partition: partitionOf(source) }, JSON.stringify(commit), sequence);
  if (appended.outcome === "refused") throw new Error(`the commit of ${source} after ${sequence} is refused`);
  sequences.set(source, appended.sequence);
}
