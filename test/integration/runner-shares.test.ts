import { afterEach, describe, expect, it } from "vitest";
import type { Deployment } from "../../domain/deployment.ts";
import { encodePack } from "../../domain/invocation.ts";
import { partitionOf } from "../../domain/partition.ts";
import { defaultPool, deploymentKey, invokeSubject, packSubject, partitionCount } from "../../domain/subjects.ts";
import { deploymentEntries } from "../../platform/jetstream/moves.ts";
import type { RunnerPorts } from "../../runner/ports.ts";
import { queueLimits } from "../../runner/queue-limits.ts";
import { startRunner, type Runner } from "../../runner/start.ts";
import { poolPortsOf } from "../../wiring/pool-ports.ts";
import { deployment } from "../runner/deployment.ts";
import { until, withJetStream, withPoolRequests } from "./jetstream-support.ts";
import { portsBesidePool } from "./runner-beside.ts";

/** Real streams and the runner role; user code only notes what it was run with. */
const nats = withJetStream({ partitions: partitionCount });
withPoolRequests(nats);
const flooded = "dc_flooded";
const neighbour = Array.from({ length: 500 }, (_, n) => `dc_n${n}`).find((id) => partitionOf(id) === partitionOf(flooded)) ?? "";
const count = 400;
const waiting = 16;

const runners: Runner[] = [];
afterEach(async () => {
  for (const runner of runners.splice(0)) await runner.stop(AbortSignal.timeout(2_000));
});

const deploymentOf = (source: string, owner: string): Deployment => ({ ...deployment, source, owner, name: source });

interface Seen {
  readonly ran: string[];
  readonly log: string[];
}

async function start(seen: Seen): Promise<Runner> {
  const ports: RunnerPorts = {
    ...poolPortsOf(nats.connection, defaultPool),
    ...portsBesidePool(async ({ source, event }) => {
      seen.ran.push(`${source} ${event}`);
      await new Promise((resolve) => setTimeout(resolve, 2));
      return { outcome: "returned", result: null, emits: [], logs: [], db: {}, response: null, durationMs: 2, cpuMs: 2 };
    }),
    log: { info: noted(seen), warn: noted(seen), error: noted(seen) },
  };
  const limits = queueLimits({ children: 1, ownerRuns: 100, ownerWaiting: waiting });
  const runner = await startRunner(
    { runner: `r${Math.random()}`, runTimeoutMs: 1_000, memoryMb: 64, historyBudgetBytes: 2 ** 20, limits },
    ports,
  );
  runners.push(runner);
  return runner;
}

const noted =
  ({ log }: Seen) =>
  (fields: object): void =>
    void log.push(JSON.stringify(fields));

const invocation = (source: string, event: string): string => JSON.stringify({ source, trigger: "manual", event });

async function publish(subject: string, invocations: readonly string[]): Promise<void> {
  await nats.connection.publisher.publish(subject, encodePack(invocations));
}

const messages = async (): Promise<number> => (await nats.connection.manager.streams.info("INVOCATIONS")).state.messages;

describe("a flood of one owner's", () => {
  it("does not keep others in its partition from being run, and is run whole, once, in order", async () => {
    const entries = deploymentEntries(nats.connection);
    await entries.put(deploymentKey(defaultPool, flooded), deploymentOf(flooded, "u_flood"));
    await entries.put(deploymentKey(defaultPool, neighbour), deploymentOf(neighbour, "u_neighbour"));
    const partition = partitionOf(flooded);
    const events = Array.from({ length: count }, (_, n) => `e${n}`);
    for (const event of events) await publish(invokeSubject(defaultPool, partition, flooded), [invocation(flooded, event)]);
    await publish(invokeSubject(defaultPool, partition, neighbour), [invocation(neighbour, "first")]);
    await publish(packSubject(defaultPool, partition), [invocation(flooded, "packed"), invocation(neighbour, "second")]);
    const seen: Seen = { ran: [], log: [] };
    await start(seen);
    await until(async () => (await messages()) === 0, "everything has run", 60_000);
    const of = (source: string): readonly string[] => seen.ran.filter((line) => line.startsWith(`${source} `));
    expect(of(flooded)).toEqual([...events, "packed"].map((event) => `${flooded} ${JSON.stringify(event)}`));
    expect(of(neighbour)).toEqual([`${neighbour} "first"`, `${neighbour} "second"`]);
    // Four hundred were stored before it, and it did not wait for a quarter of them.
    expect(seen.ran.indexOf(`${neighbour} "second"`)).toBeLessThan(count / 4);
    expect(seen.log.filter((line) => line.includes("source.park"))).toEqual([
      JSON.stringify({ op: "source.park", reason: "owner_share", "source.id": flooded, "owner.id": "u_flood" }),
    ]);
  }, 90_000);
});
