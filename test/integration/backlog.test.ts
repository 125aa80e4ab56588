import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { defaultBacklogLimits } from "../../domain/limits/admission.ts";
import type { Deployment } from "../../domain/source/deployment.ts";
import { encodePack } from "../../domain/invocation/invocation.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import { defaultPool, deploymentKey, invokeSubject, packSubject, partitionCount } from "../../domain/subjects.ts";
import { followAdmission } from "../../platform/jetstream/members/admission.ts";
import type { Stoppable } from "../../platform/jetstream/connection/link.ts";
import { deploymentEntries } from "../../platform/jetstream/invocations/moves.ts";
import { servePoolRequests } from "../../platform/jetstream/invocations/pool-requests.ts";
import { setUpPool } from "../../platform/jetstream/invocations/pool-consumers.ts";
import type { Runner } from "../../runner/start.ts";
import { deployment } from "../runner/support.ts";
import { isSoak } from "../support/soak.ts";
import { committedRuns, nothingSeen, startCountingRunner, type Seen, type StartOptions } from "./counting-runner.ts";
import { startMortalRunner } from "./mortal-process.ts";
import { quietMs, withJetStream } from "./jetstream/support.ts";
import { until } from "../support/until.ts";

/** Real streams and the runner role. User code increments a counter in the source's db, which reveals repeated and lost runs. */
const nats = withJetStream({ partitions: partitionCount });
let requests: Stoppable;
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

/** A source with a backlog, another source of its owner, and one of another owner, all in one partition. */
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
/** Also false while NATS does not respond. */
const isEmpty = (): Promise<boolean> =>
  messages().then(
    (count) => count === 0,
    () => false,
  );
const ranOf = (seen: Seen, source: string): string[] =>
  seen.ran.filter((line) => line.startsWith(`${source} `)).map((line) => line.slice(source.length + 1));

const countOf = (owner: string, source: string): Promise<number> => committedRuns(nats.connection, owner, source);

const slow = (source: string, gate: { isOpen: boolean }) => async (of: string) => {
  if (of === source) await until(() => gate.isOpen, "the gate is open");
};

describe("the backlog of a slow source", () => {
  it("does not keep other sources of its partition from running, and runs once and in order when the source continues", async () => {
    const { flooded, sibling, neighbour, owner, partition } = await world();
    const [seen, gate] = [nothingSeen(), { isOpen: false }];
    await start(seen, { running: slow(flooded, gate) });
    await send(flooded, ...numbers(1, 260));
    await send(neighbour, "first");
    await until(() => ranOf(seen, neighbour).length === 1, "the neighbour has run");
    await send(flooded, ...numbers(261, 300));
    await send(sibling, "too");
    await until(() => ranOf(seen, sibling).length === 1, "another source of the same owner has run");
    const pack = [invocation(flooded, 301), invocation(neighbour, "packed"), invocation(flooded, 302)];
    await nats.connection.publisher.publish(packSubject(defaultPool, partition), encodePack(pack));
    await until(() => ranOf(seen, neighbour).length === 2, "the neighbour's part of a pack has run");
    expect(ranOf(seen, flooded)).toEqual(["1"]);
    gate.isOpen = true;
    await until(isEmpty, "all has run");
    expect(ranOf(seen, flooded)).toEqual(numbers(1, 302).map(String));
    expect(await countOf(owner, flooded)).toBe(302);
  });

  it("is reported as full at its limit, and accepts invocations again after an eighth of it has run", async () => {
    const { flooded, sibling, neighbour, owner } = await world();
    const backlog = { ...defaultBacklogLimits, sourceInvocations: 64 };
    const { gate: admission, stop } = await followAdmission(nats.connection, defaultBacklogLimits);
    const isFull = (source: string, of = owner): boolean => admission.isFull({ pool: defaultPool, source, owner: of }, performance.now());
    const [seen, gate] = [nothingSeen(), { isOpen: false }];
    await start(seen, { running: slow(flooded, gate), backlog });
    await send(flooded, ...numbers(1, 65));
    await until(() => isFull(flooded), "the source is refused");
    expect([isFull(sibling), isFull(neighbour)]).toEqual([false, false]);
    gate.isOpen = true;
    await until(() => !isFull(flooded), "the source is accepted again");
    await until(isEmpty, "all has run");
    await stop();
  });

  it("does not delay other owners while its owner is over quota, and runs when there is quota again", async () => {
    const { flooded, neighbour, owner } = await world();
    const seen = nothingSeen();
    let [untilMs, notify] = [(Date.now() + 3_600_000) as number | undefined, (_owner: string | undefined): void => undefined];
    await start(seen, {
      quotas: {
        blockedUntil: (of) => Promise.resolve(of === owner ? untilMs : undefined),
        onChange: (changed) => {
          notify = changed;
          return Promise.resolve({ stop: () => Promise.resolve() });
        },
      },
    });
    await send(flooded, ...numbers(1, 220));
    await send(neighbour, "first");
    await until(() => ranOf(seen, neighbour).length === 1, "the neighbour has run");
    await new Promise((resolve) => setTimeout(resolve, quietMs));
    expect(ranOf(seen, flooded)).toEqual([]);
    untilMs = undefined;
    notify(owner);
    await until(isEmpty, "all has run");
    expect(ranOf(seen, flooded)).toEqual(numbers(1, 220).map(String));
  });

  it("moves with its source to another pool", async () => {
    const { flooded, owner } = await world();
    const [seen, gate] = [nothingSeen(), { isOpen: false }];
    await start(seen, { running: slow(flooded, gate) });
    await send(flooded, ...numbers(1, 60));
    await until(() => ranOf(seen, flooded).length === 1, "the first run has begun");
    const pool = `p${worlds}`;
    await setUpPool(nats.connection, { pool });
    await entries().put(deploymentKey(pool, flooded), { ...deploymentOf(flooded, owner), pool });
    await entries().put(deploymentKey(defaultPool, flooded), { source: flooded, movedTo: pool });
    gate.isOpen = true;
    runners.push(await startCountingRunner(nats.connection, seen, { pool }));
    await until(isEmpty, "all has run");
    expect(await countOf(owner, flooded)).toBe(60);
  });

  it("is deleted with its source", async () => {
    const { flooded, neighbour } = await world();
    const [seen, gate] = [nothingSeen(), { isOpen: false }];
    await start(seen, { running: slow(flooded, gate) });
    await send(flooded, ...numbers(1, 100));
    await until(() => ranOf(seen, flooded).length === 1, "the first run has begun");
    await entries().delete(deploymentKey(defaultPool, flooded));
    await send(neighbour, "beside");
    await until(() => ranOf(seen, neighbour).length === 1, "the neighbour has run");
    gate.isOpen = true;
    await until(isEmpty, "nothing is left");
    expect(ranOf(seen, flooded).length).toBeLessThan(20);
  });
});

describe("a backlog runs exactly once", () => {
  /** `npm test` kills both once, `npm run test:soak` each alone and both, several times. */
  const kills = isSoak ? 5 : 1;

  /** @param kill kills the runner, NATS or both, and starts them again */
  async function survives(kill: (round: number) => Promise<void>): Promise<void> {
    const { flooded, sibling, neighbour, owner } = await world();
    let sent = 0;
    for (let round = 0; round < kills; round++) {
      for (let n = 0; n < 20; n++) {
        await send(flooded, ...numbers(sent + 1, sent + 5));
        sent += 5;
        if (n % 10 === 0) await send(sibling, n);
        if (n % 10 === 0) await send(neighbour, n);
      }
      await kill(round);
    }
    await until(isEmpty, "all has run");
    expect([await countOf(owner, flooded), await countOf(owner, sibling)]).toEqual([sent, 2 * kills]);
    expect(await countOf(owner.replace("flood", "near"), neighbour)).toBe(2 * kills);
  }

  it("when the runner is killed", async () => {
    let runner = await startMortalRunner(nats.server.connection);
    await survives(async () => {
      await runner.kill();
      runner = await startMortalRunner(nats.server.connection);
    });
    await runner.kill();
  });

  it("when NATS is killed", async () => {
    const runner = await startMortalRunner(nats.server.connection);
    await survives(() => nats.server.crash());
    await runner.kill();
  });

  it("when both are killed", async () => {
    let runner = await startMortalRunner(nats.server.connection);
    await survives(async () => {
      await Promise.all([runner.kill(), nats.server.crash()]);
      runner = await startMortalRunner(nats.server.connection);
    });
    await runner.kill();
  });
});
