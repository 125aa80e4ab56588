import { afterEach, expect, it } from "vitest";
import { encodePack, type Invocation } from "../../domain/invocation.ts";
import { ownerOf, partitionOf } from "../../domain/partition.ts";
import { defaultPool, deploymentKey, packSubject, partitionCount } from "../../domain/subjects.ts";
import { deploymentEntries } from "../../platform/jetstream/moves.ts";
import { startRunner, type Runner } from "../../runner/start.ts";
import { poolPortsOf } from "../../wiring/pool-ports.ts";
import { deployment } from "../runner/deployment.ts";
import { until, withJetStream, withPoolRequests } from "./jetstream-support.ts";
import { portsBesidePool } from "./runner-beside.ts";

/** Real streams, two runners; user code only notes what it was run with, and lasts as long as the test says. */
const nats = withJetStream({ partitions: partitionCount });
withPoolRequests(nats);
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const quick = "dc_quick";
const partition = partitionOf(quick);
const slow = Array.from({ length: 500 }, (_, n) => `dc_slow${n}`).find((id) => partitionOf(id) === partition) ?? "";

interface Started {
  readonly runner: Runner;
  /** As `<source> <event>`. */
  readonly ran: string[];
  pass(ms: number): void;
}

async function start(name: string): Promise<Started> {
  const ran: string[] = [];
  let aheadMs = 0;
  const runner = await startRunner(
    { runner: name, runTimeoutMs: 1_000, memoryMb: 64, historyBudgetBytes: 2 ** 20 },
    {
      ...poolPortsOf(nats.connection, defaultPool),
      ...portsBesidePool(async ({ source, event }) => {
        ran.push(`${source} ${event}`);
        if (source === slow) await new Promise(() => undefined);
        return { outcome: "returned", result: null, emits: [], logs: [], db: {}, response: null, durationMs: 1, cpuMs: 1 };
      }),
      clock: { now: () => Date.now() + aheadMs },
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    },
  );
  return { runner, ran, pass: (ms) => (aheadMs += ms) };
}

async function send(...invocations: readonly (readonly [source: string, event: number])[]): Promise<void> {
  const pack = invocations.map(([source, event]) => JSON.stringify({ source, trigger: "event", event } satisfies Invocation));
  await nats.connection.publisher.publish(packSubject(defaultPool, partition), encodePack(pack));
}

it("runs nothing again of a pack that another runner still held when its partition was taken over", { timeout: 120_000 }, async () => {
  for (const source of [quick, slow])
    await deploymentEntries(nats.connection).put(deploymentKey(defaultPool, source), { ...deployment, source, name: source });
  const first = await start("r_first");
  await send([quick, 1], [slow, 2]);
  await until(() => first.ran.length === 2, "both run");

  const name = Array.from({ length: 500 }, (_, n) => `r_second${n}`).find((each) => ownerOf(partition, ["r_first", each]) === each) ?? "";
  const second = await start(name);
  ends.push(() => second.runner.stop(AbortSignal.timeout(1_000)));
  let event = 10;
  await until(async () => {
    await send([quick, ++event]);
    await new Promise((resolve) => setTimeout(resolve, 200));
    return second.ran.length > 0;
  }, "the other runner has the partition");

  // So long that whatever was given back or lost has come again: the run that is still under way has not.
  for (let minute = 0; minute < 5; minute++) {
    second.pass(60_000);
    await send([quick, ++event]);
    await until(() => second.ran.includes(`${quick} ${event}`), "another run of the quick one");
  }
  await first.runner.stop(AbortSignal.abort());
  await until(() => second.ran.some((each) => each.startsWith(slow)), "the pack came again", 60_000);
  await send([quick, 1_000]);
  await until(() => second.ran.includes(`${quick} 1000`), "what comes after it");
  expect([...first.ran, ...second.ran].filter((each) => each === `${quick} 1`)).toHaveLength(1);
});
