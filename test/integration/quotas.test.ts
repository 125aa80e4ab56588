import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Answer, Invocation } from "../../domain/invocation/invocation.ts";
import { encodePack } from "../../domain/invocation/invocation.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import { dayOf } from "../../domain/limits/quota.ts";
import { defaultPool, deploymentKey, invokeSubject, partitionCount } from "../../domain/subjects.ts";
import { deploymentEntries } from "../../platform/jetstream/invocations/moves.ts";
import { createOwnerLimits, readWeights } from "../../platform/jetstream/buckets/quotas.ts";
import { createAccounts } from "../../platform/postgres/accounts/index.ts";
import { OwnerValueCache } from "../../runner/schedule/owner-value-cache.ts";
import type { RunnerPorts } from "../../runner/ports.ts";
import { schedulerLimits } from "../../runner/schedule/scheduler.ts";
import { startRunner } from "../../runner/start.ts";
import { createRunnerPorts } from "../../platform/jetstream/invocations/runner-ports.ts";
import { deployment } from "../runner/support.ts";
import { quietMs, withJetStream, withPoolRequests } from "./jetstream/support.ts";
import { until } from "../support/until.ts";
import { withMigratedPostgres } from "../support/postgres.ts";
import { withDatabase, withHistory } from "./postgres/support.ts";
import { silent, startCounting, TestClock } from "./quota-support.ts";
import { portsBesidePool } from "./runner-beside.ts";

/** Real streams, a real Postgres, the runner and usage counting; user code only records its events. */
const postgres = withMigratedPostgres();
const [database, read] = [withDatabase("delivery", postgres), withDatabase("api", postgres)];
const nats = withJetStream({ partitions: partitionCount });
withPoolRequests(nats);
const accounts = createAccounts(read);
const history = withHistory({}, postgres);
const small = { name: "small", form: "free", dailyInvocations: 5, dailyComputeMs: null, weight: 1, maxOrganizations: 20 } as const;

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});
beforeAll(() => accounts.savePlan(small));

let worlds = 0;

/** An owner on the plan `small`, one of their sources, and another owner's source in the same partition. */
async function world() {
  const own = { owner: `u_own${++worlds}`, source: `dc_own${worlds}` };
  const source = Array.from({ length: 500 }, (_, n) => `dc_near${worlds}x${n}`).find((id) => partitionOf(id) === partitionOf(own.source));
  const neighbour = { owner: `u_near${worlds}`, source: source ?? "" };
  for (const each of [own, neighbour])
    await deploymentEntries(nats.connection).put(deploymentKey(defaultPool, each.source), { ...deployment, ...each, name: each.source });
  await accounts.choosePlan(own.owner, small.name);
  const clock = new TestClock();
  const counting = await startCounting(database, nats.connection, clock);
  ends.push(() => counting.stop());
  const [ran, answers, log, waits]: [string[], Answer[], string[], number[]] = [[], [], [], []];
  return {
    own,
    neighbour,
    clock,
    ran,
    answers,
    waits,
    runner: () => runner({ clock, ran, answers, log, waits }),
    used: async () => (await history.readUsage(own.owner, dayOf(clock.now()).startMs)).runs,
    isParked: () => log.some((fields) => fields.includes("owner.park") && fields.includes(own.owner)),
  };
}

interface Recorded {
  readonly clock: TestClock;
  readonly ran: string[];
  readonly answers: Answer[];
  readonly log: string[];
  /** Observed waits, ms. */
  readonly waits: number[];
}

async function runner({ clock, ran, answers, log, waits }: Recorded): Promise<() => Promise<void>> {
  const ports: RunnerPorts = {
    ...createRunnerPorts(nats.connection, defaultPool),
    ...portsBesidePool(async ({ event, entry }) => {
      ran.push(entry === "run" ? String(JSON.parse(event)) : entry);
      return { outcome: "returned", result: null, emits: [], logs: [], db: {}, response: null, durationMs: 2, cpuMs: 2 };
    }),
    answer: (_subject, answer) => answers.push(answer),
    clock,
    log: { ...silent, warn: (fields) => log.push(JSON.stringify(fields)) },
    metrics: { ran: () => undefined, waited: (ms) => waits.push(ms), counts: () => undefined },
  };
  const limits = schedulerLimits(1, 100);
  const config = { runner: `r${Math.random()}`, pool: defaultPool, runTimeoutMs: 1_000, memoryMb: 64, stateCacheBytes: 2 ** 20, limits };
  const started = await startRunner(config, ports);
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (!isStopped) await started.stop(AbortSignal.timeout(2_000));
    isStopped = true;
  };
  ends.push(stop);
  return stop;
}

async function ask(source: string, ...invocations: Omit<Invocation, "source">[]): Promise<void> {
  for (const invocation of invocations)
    await nats.connection.publisher.publish(
      invokeSubject(defaultPool, partitionOf(source), source),
      encodePack([JSON.stringify({ source, ...invocation })]),
    );
}

const events = (from: number, to: number): Omit<Invocation, "source">[] =>
  Array.from({ length: to - from + 1 }, (_, n) => ({ trigger: "event", event: from + n }));
const numbers = (from: number, to: number): string[] => Array.from({ length: to - from + 1 }, (_, n) => String(from + n));
const messages = async (): Promise<number> => (await nats.connection.manager.streams.info("INVOCATIONS")).state.messages;

describe("an owner who has used up the invocations of the day", () => {
  it("stays queued while other owners' work runs, and continues when the plan is raised: complete, once, in order", async () => {
    const { own, neighbour, ran, used, isParked, runner } = await world();
    await runner();
    await ask(own.source, ...events(1, 5));
    await until(isParked, "the runner knows that the quota is used up");
    await ask(own.source, ...events(6, 20));
    await ask(neighbour.source, { trigger: "event", event: "near" });
    await until(() => ran.includes("near"), "the neighbour has run");
    await new Promise((resolve) => setTimeout(resolve, quietMs));
    expect(ran).toEqual([...numbers(1, 5), "near"]);
    await until(async () => (await messages()) === 15, "the others wait");
    await accounts.choosePlan(own.owner, "default");
    await until(async () => (await messages()) === 0, "all that waited has run");
    expect(ran).toEqual([...numbers(1, 5), "near", ...numbers(6, 20)]);
    await until(async () => (await used()) === 20, "all that has run is counted");
  });

  it("stays queued in a runner that starts later, too", async () => {
    const { own, neighbour, ran, used, isParked, runner } = await world();
    const stop = await runner();
    await ask(own.source, ...events(1, 5));
    await until(isParked, "the runner knows that the quota is used up");
    await ask(own.source, ...events(6, 8));
    await stop();
    await runner();
    await ask(own.source, ...events(9, 10));
    await ask(neighbour.source, { trigger: "event", event: "near" });
    await until(() => ran.includes("near"), "the neighbour has run");
    await until(async () => (await used()) === 5 && (await messages()) === 5, "the others wait");
    await accounts.savePlan({ ...small, name: "large", dailyInvocations: 1_000 });
    await accounts.choosePlan(own.owner, "large");
    await until(() => ran.length === 11, "all that waited has run");
    expect(ran.toSorted()).toEqual([...numbers(1, 10), "near"].toSorted());
  });

  it("continues at midnight, also in a runner that starts then, and no wait until then is observed", async () => {
    const { own, clock, ran, used, isParked, runner, waits } = await world();
    const stop = await runner();
    await ask(own.source, ...events(1, 5));
    await until(isParked, "the runner knows that the quota is used up");
    await ask(own.source, ...events(6, 8));
    await until(async () => (await messages()) === 3, "the others wait");
    expect([ran, await used()]).toEqual([numbers(1, 5), 5]);
    await stop();
    clock.pass(43_200_000);
    await runner();
    await until(() => ran.length === 8, "the others run");
    expect([ran, waits.length]).toEqual([numbers(1, 8), 5]);
    await until(async () => (await used()) === 3, "they count for the new day");
  });

  it("still runs hooks, and refuses requests that wait for a response", async () => {
    const { own, clock, ran, answers, isParked, runner } = await world();
    await runner();
    await ask(own.source, ...events(1, 5));
    await until(isParked, "the runner knows that the quota is used up");
    await ask(own.source, { trigger: "event", event: "waits" }, { trigger: "http", event: {}, answerTo: "answer.t.r_1", run: "r_1" });
    await ask(own.source, { trigger: "hook", hook: "deploy", run: "r_hook", generation: 1 });
    await until(() => ran.includes("deploy"), "the hook has run");
    expect(ran).toEqual([...numbers(1, 5), "deploy"]);
    const [refused] = answers.flatMap((answer) => (answer.kind === "response" ? [answer.response] : []));
    expect([refused?.status, JSON.parse(refused?.body ?? "").code]).toEqual([429, "quota_exceeded"]);
    const waitS = Number(refused?.headers["retry-after"]);
    expect(Math.abs(dayOf(clock.now()).endMs / 1_000 - clock.now() / 1_000 - waitS)).toBeLessThan(600);
  });
});

describe("the weight of a plan", () => {
  it("is published to runners relative to the default plan, changes with the plan, and is removed with it", async () => {
    const { own, neighbour, clock } = await world();
    const { weightOf: read, onChange: subscribe } = readWeights(nats.connection);
    const weights = new OwnerValueCache({ read, subscribe, defaultValue: 1, clock });
    await weights.start();
    ends.push(() => weights.stop());
    const weighs = (weight: number): Promise<void> => until(() => weights.get(own.owner) === weight, `it weighs ${weight}`);
    await accounts.savePlan({ ...small, name: "heavy", weight: 6 });
    await accounts.choosePlan(own.owner, "heavy");
    await weighs(6);
    await accounts.savePlan({
      name: "default",
      form: "free",
      dailyInvocations: null,
      dailyComputeMs: null,
      weight: 2,
      maxOrganizations: 20,
    });
    await weighs(3);
    expect(weights.get(neighbour.owner)).toBe(1);
    expect((await createOwnerLimits(nats.connection).list(clock.now())).filter((owner) => !owner.startsWith("u_own"))).toEqual([]);
    await accounts.choosePlan(own.owner, "default");
    await weighs(1);
    await accounts.savePlan({
      name: "default",
      form: "free",
      dailyInvocations: null,
      dailyComputeMs: null,
      weight: 1,
      maxOrganizations: 20,
    });
  });
});
