import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Deployment } from "../../domain/deployment.ts";
import { encodePack } from "../../domain/invocation.ts";
import { partitionOf } from "../../domain/partition.ts";
import { defaultPool, deploymentKey, invokeSubject, packSubject, partitionCount } from "../../domain/subjects.ts";
import { listAsides } from "../../platform/jetstream/asides.ts";
import type { Reading } from "../../platform/jetstream/consumer.ts";
import { deploymentEntries } from "../../platform/jetstream/moves.ts";
import { servePoolRequests } from "../../platform/jetstream/pool-requests.ts";
import { removePool, setUpPool } from "../../platform/jetstream/pools.ts";
import type { Runner } from "../../runner/start.ts";
import { deployment } from "../runner/deployment.ts";
import { committedRuns, nothingSeen, startCountingRunner, type Seen, type StartOptions } from "./counting-runner.ts";
import { startMortal } from "./mortal-process.ts";
import { quietMs, until, withJetStream } from "./jetstream-support.ts";

/**
 * Real streams and the runner role; user code is a counter in the source's db, which shows every run that was doubled or lost. The window of
 * a partition is small, and every backlog here is larger.
 */
const maxAckPending = 64;
const nats = withJetStream({ partitions: partitionCount, maxAckPending });
let requests: Reading;
beforeAll(async () => {
  requests = await servePoolRequests(nats.connection);
});
afterAll(() => requests.stop());

const runners: Runner[] = [];
afterEach(async () => {
  for (const runner of runners.splice(0)) await runner.stop(AbortSignal.timeout(2_000));
});

const entries = () => deploymentEntries(nats.connection);
const deploymentOf = (source: string, owner: string): Deployment => ({ ...deployment, source, owner, name: source });
let worlds = 0;

/** A source with a backlog, its owner's other source, and a neighbour's, all of one partition. */
async function world() {
  const name = `w${++worlds}x`;
  const flooded = `dc_${name}flooded`;
  const partition = partitionOf(flooded);
  const beside = (what: string): string =>
    Array.from({ length: 500 }, (_, n) => `dc_${name}${what}${n}`).find((id) => partitionOf(id) === partition) ?? "";
  const sources = { flooded, sibling: beside("s"), neighbour: beside("n") };
  const owner = `u_${name}flood`;
  await entries().put(deploymentKey(defaultPool, sources.flooded), deploymentOf(sources.flooded, owner));
  await entries().put(deploymentKey(defaultPool, sources.sibling), deploymentOf(sources.sibling, owner));
  await entries().put(deploymentKey(defaultPool, sources.neighbour), deploymentOf(sources.neighbour, `u_${name}near`));
  return { ...sources, owner, partition };
}

const start = async (seen: Seen, options: StartOptions = {}): Promise<Runner> => {
  const runner = await startCountingRunner(nats.connection, seen, options);
  runners.push(runner);
  return runner;
};

const invocation = (source: string, event: number | string): string => JSON.stringify({ source, trigger: "event", event });
const send = (source: string, ...events: (number | string)[]): Promise<unknown> =>
  Promise.all(
    events.map((event) =>
      nats.connection.publisher.publish(invokeSubject(defaultPool, partitionOf(source), source), encodePack([invocation(source, event)])),
    ),
  );
const numbers = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, n) => from + n);
const messages = async (): Promise<number> => (await nats.connection.manager.streams.info("INVOCATIONS")).state.messages;
/** Whoever is asked may be away. */
const isEmpty = (): Promise<boolean> =>
  messages().then(
    (count) => count === 0,
    () => false,
  );
const aside = async (source: string): Promise<number> =>
  (await listAsides(nats.connection, defaultPool, partitionOf(source))).get(source) ?? 0;
const ranOf = (seen: Seen, source: string): string[] =>
  seen.ran.filter((line) => line.startsWith(`${source} `)).map((line) => line.slice(source.length + 1));

const countOf = (owner: string, source: string): Promise<number> => committedRuns(nats.connection, owner, source);

const slow = (source: string, gate: { isOpen: boolean }) => async (of: string) => {
  if (of === source) await until(() => gate.isOpen, "the gate is open", 120_000);
};

describe("a backlog beyond the window of its partition", { timeout: 180_000 }, () => {
  it("does not keep neighbours from being run, and is run once and in order when its source goes on", async () => {
    const { flooded, sibling, neighbour, owner } = await world();
    const [seen, gate] = [nothingSeen(), { isOpen: false }];
    await start(seen, { running: slow(flooded, gate) });
    await send(flooded, ...numbers(1, 150));
    await send(neighbour, "first");
    await until(() => ranOf(seen, neighbour).length === 1, "the neighbour has run");
    await send(flooded, ...numbers(151, 200));
    await send(sibling, "too");
    await until(() => ranOf(seen, sibling).length === 1, "another source of the same owner has run");
    await send(neighbour, "second");
    await until(() => ranOf(seen, neighbour).length === 2, "the neighbour has run again");
    expect(ranOf(seen, flooded)).toEqual(["1"]);
    expect(await aside(flooded)).toBeGreaterThan(150);
    gate.isOpen = true;
    await until(isEmpty, "all has run", 120_000);
    expect(ranOf(seen, flooded)).toEqual(numbers(1, 200).map(String));
    expect(await countOf(owner, flooded)).toBe(200);
    await until(() => seen.log.some((line) => line.includes("source.resume") && line.includes(flooded)), "it is told that it is over");
    await send(flooded, "after");
    await until(() => ranOf(seen, flooded).at(-1) === '"after"', "what comes then is run");
  });

  it("of an owner over quota does neither, and is run when there is something left of it", async () => {
    const { flooded, neighbour, owner } = await world();
    const seen = nothingSeen();
    let [untilMs, tell] = [(Date.now() + 3_600_000) as number | undefined, (_owner: string | undefined): void => undefined];
    await start(seen, {
      overQuota: {
        untilOf: (of) => Promise.resolve(of === owner ? untilMs : undefined),
        onChange: (changed) => {
          tell = changed;
          return Promise.resolve({ stop: () => Promise.resolve() });
        },
      },
    });
    await send(flooded, ...numbers(1, 150));
    await send(neighbour, "first");
    await until(() => ranOf(seen, neighbour).length === 1, "the neighbour has run");
    await until(async () => (await aside(flooded)) > 100, "the rest lies aside");
    await new Promise((resolve) => setTimeout(resolve, quietMs));
    expect(ranOf(seen, flooded)).toEqual([]);
    untilMs = undefined;
    tell(owner);
    await until(isEmpty, "all has run", 120_000);
    expect(ranOf(seen, flooded)).toEqual(numbers(1, 150).map(String));
  });
});

describe("what lies aside", { timeout: 180_000 }, () => {
  it("is a part of a pack, whose other invocations are run where they are", async () => {
    const { flooded, neighbour, owner, partition } = await world();
    const [seen, gate] = [nothingSeen(), { isOpen: false }];
    await start(seen, { running: slow(flooded, gate) });
    for (let n = 0; n < 40; n++) {
      const pack = [invocation(flooded, 3 * n), invocation(neighbour, n), invocation(flooded, 3 * n + 1), invocation(flooded, 3 * n + 2)];
      await nats.connection.publisher.publish(packSubject(defaultPool, partition), encodePack(pack));
    }
    await until(() => ranOf(seen, neighbour).length === 40, "the neighbour's are run");
    expect(await aside(flooded)).toBeGreaterThan(20);
    gate.isOpen = true;
    await until(isEmpty, "all has run", 120_000);
    expect(ranOf(seen, flooded)).toEqual(numbers(0, 119).map(String));
    expect(ranOf(seen, neighbour)).toEqual(numbers(0, 39).map(String));
    expect(await countOf(owner, flooded)).toBe(120);
  });

  it("leaves the way free for hooks, and keeps one tick", async () => {
    const { flooded } = await world();
    const [seen, gate] = [nothingSeen(), { isOpen: false }];
    await start(seen, { running: slow(flooded, gate) });
    await send(flooded, ...numbers(1, 100));
    await until(async () => (await aside(flooded)) > 50, "most lies aside");
    const subject = invokeSubject(defaultPool, partitionOf(flooded), flooded);
    for (const about of [{ trigger: "timer" }, { trigger: "timer" }, { trigger: "hook", hook: "deploy", run: "r_hook", generation: 1 }])
      await nats.connection.publisher.publish(subject, encodePack([JSON.stringify({ source: flooded, event: about.trigger, ...about })]));
    await send(flooded, "last");
    gate.isOpen = true;
    await until(isEmpty, "all has run", 120_000);
    const ran = ranOf(seen, flooded);
    expect(ran.filter((event) => !/^\d+$/.test(event))).toHaveLength(3); // Of the ticks, one.
    expect(ran.at(-1)).toBe('"last"');
    expect(ran.filter((event) => /^\d+$/.test(event))).toEqual(numbers(1, 100).map(String));
  });

  it("goes with its source to another pool, and out of one that ends", async () => {
    const { flooded, owner } = await world();
    const [seen, gate] = [nothingSeen(), { isOpen: false }];
    const first = await start(seen, { running: slow(flooded, gate) });
    await send(flooded, ...numbers(1, 100));
    await until(async () => (await aside(flooded)) > 50, "most lies aside");
    const pool = `p${worlds}`;
    await setUpPool(nats.connection, { pool, maxAckPending });
    await entries().put(deploymentKey(pool, flooded), { ...deploymentOf(flooded, owner), pool });
    await entries().put(deploymentKey(defaultPool, flooded), { source: flooded, movedTo: pool });
    gate.isOpen = true;
    await until(async () => (await aside(flooded)) === 0, "all has left the pool", 120_000);
    const inOther = nothingSeen();
    gate.isOpen = false;
    const second = await startCountingRunner(nats.connection, inOther, { pool, running: slow(flooded, gate) });
    runners.push(second);
    await until(
      async () => ((await listAsides(nats.connection, pool, partitionOf(flooded))).get(flooded) ?? 0) > 40,
      "it lies aside there",
    );
    // The pool ends while it does, and all goes back.
    await entries().put(deploymentKey(defaultPool, flooded), deploymentOf(flooded, owner));
    await entries().put(deploymentKey(pool, flooded), { source: flooded, movedTo: defaultPool });
    await second.stop(AbortSignal.abort());
    await removePool(nats.connection, pool);
    gate.isOpen = true;
    await until(isEmpty, "all has run", 120_000);
    await first.stop(AbortSignal.timeout(2_000));
    expect(await countOf(owner, flooded)).toBe(100);
  });

  it("ends with its source", async () => {
    const { flooded, neighbour } = await world();
    const [seen, gate] = [nothingSeen(), { isOpen: false }];
    await start(seen, { running: slow(flooded, gate) });
    await send(flooded, ...numbers(1, 100));
    await until(async () => (await aside(flooded)) > 50, "most lies aside");
    await entries().delete(deploymentKey(defaultPool, flooded));
    gate.isOpen = true;
    await send(neighbour, "beside");
    await until(isEmpty, "nothing is left", 120_000);
    expect(ranOf(seen, neighbour)).toHaveLength(1);
    expect(ranOf(seen, flooded).length).toBeLessThan(20);
  });
});

describe("a backlog beyond the window, while processes are killed", { timeout: 300_000 }, () => {
  const kills = 5;

  /** @param kill ends something of the world and starts it again */
  async function survives(kill: (round: number) => Promise<void>): Promise<void> {
    const { flooded, sibling, neighbour, owner } = await world();
    let sent = 0;
    for (let round = 0; round < kills; round++) {
      for (let n = 0; n < 40; n++) {
        await send(flooded, ...numbers(sent + 1, sent + 5));
        sent += 5;
        if (n % 10 === 0) await send(sibling, n);
        if (n % 10 === 0) await send(neighbour, n);
      }
      await kill(round);
    }
    await until(isEmpty, "all has run", 200_000);
    expect([await countOf(owner, flooded), await countOf(owner, sibling)]).toEqual([sent, 4 * kills]);
    expect(await countOf(owner.replace("flood", "near"), neighbour)).toBe(4 * kills);
  }

  it("is run exactly once when the runner is", async () => {
    let runner = await startMortal("runner", nats.server.connection);
    await survives(async () => {
      await runner.kill();
      runner = await startMortal("runner", nats.server.connection);
    });
    await runner.kill();
  });

  it("is run exactly once when whoever lays it aside is", async () => {
    await requests.stop();
    const runner = await startMortal("runner", nats.server.connection);
    let serving = await startMortal("requests", nats.server.connection);
    await survives(async () => {
      await serving.kill();
      serving = await startMortal("requests", nats.server.connection);
    });
    await runner.kill();
    await serving.kill();
    requests = await servePoolRequests(nats.connection);
  });

  it("is run exactly once when the message server is", async () => {
    const runner = await startMortal("runner", nats.server.connection);
    await survives(() => nats.server.crash());
    await runner.kill();
  });

  it("is run exactly once when all of them are", async () => {
    await requests.stop();
    let runner = await startMortal("runner", nats.server.connection);
    let serving = await startMortal("requests", nats.server.connection);
    await survives(async () => {
      await Promise.all([runner.kill(), serving.kill(), nats.server.crash()]);
      [serving, runner] = await Promise.all([
        startMortal("requests", nats.server.connection),
        startMortal("runner", nats.server.connection),
      ]);
    });
    await runner.kill();
    await serving.kill();
    requests = await servePoolRequests(nats.connection);
  });
});
