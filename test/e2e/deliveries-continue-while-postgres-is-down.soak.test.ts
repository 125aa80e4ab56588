import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startCluster, type Cluster, type Target } from "./support/cluster.ts";
import { natsServers } from "./support/message-servers.ts";
import { until } from "./support/headwater.ts";
import { expectAttempts, expectHistory, expectOneIdEach, untilQuiet, type Disturbance } from "./support/ledger.ts";
import { failing, load, oneOf, randomOf } from "./support/mixed-load.ts";
import { closeAgent, createPair, relay, send, taken, type Pair } from "./support/sources-with-endpoints.ts";

/** `npm run chaos` kills at random, and stays away for longer. The same seed chooses the same, in the same order. */
const killingSeconds = Number(process.env["HEADWATER_TEST_CHAOS_SECONDS"] ?? 0);
const outageSeconds = Number(process.env["HEADWATER_TEST_CHAOS_OUTAGE_SECONDS"] ?? 20);
const seed = Number(process.env["HEADWATER_TEST_CHAOS_SEED"] ?? Date.now() % 1_000_000);

const targets: readonly Target[] = ["delivery", "runner", "ingress", "api", "sandbox", "nats", "postgres"];
/** With several NATS servers: what may happen to one of them besides. */
const natsFaults = ["new leaders", "stall", "lost volume"] as const;
type NatsFault = (typeof natsFaults)[number];
const stallMs = 20_000;
/** What these forget or interrupt shows in the list of attempts. */
const concernAttempts: ReadonlySet<Target | NatsFault> = new Set(["delivery", "nats", "postgres", ...natsFaults]);
/** Longer than what was disturbed takes to be written. */
const calmMs = 20_000;
const waitMs = 120_000;

const pairs: Pair[] = [];
const disturbances: Disturbance[] = [];
let directory: TemporaryDirectory;
let cluster: Cluster;
let gone: Pair;
let runsOfGone = 0;

beforeAll(async () => {
  process.stdout.write(
    `HEADWATER_TEST_CHAOS_SEED=${seed} HEADWATER_TEST_CHAOS_SECONDS=${killingSeconds} HEADWATER_TEST_CHAOS_OUTAGE_SECONDS=${outageSeconds}\n`,
  );
  directory = await temporaryDirectory("away");
  const waits = ["500ms", ...Array.from({ length: 300 }, () => "1s")].join(",");
  cluster = await startCluster(directory.path, { env: { HEADWATER_DELIVERY_RETRY: waits } });
  for (let n = 0; n < 5; n++) pairs.push(await createPair(cluster, n === 0 ? relay : undefined));
  gone = await createPair(cluster);
}, 400_000);
afterAll(async () => {
  await cluster.stop();
  await Promise.all([...pairs, gone].map(({ endpoint }) => endpoint.close()));
  await closeAgent();
  await directory.remove();
}, 60_000);

describe(`Postgres, away for ${outageSeconds} s under load`, () => {
  it(
    "is missed by who reads alone: runs and deliveries go on, and the history catches up",
    async () => {
      gone.endpoint.behave(() => "gone");
      const loading = load(cluster, pairs, 15);
      await until(() => pairs.every((pair) => taken(pair).size > 1), "work is under way", waitMs);
      const comeBack = await cluster.takeAway("postgres");
      const before = new Map(pairs.map((pair) => [pair, taken(pair).size]));
      const away = sleep(outageSeconds * 1_000);
      // Its event can become a dead letter only when Postgres is there again.
      await send(gone, "nobody-listens");
      const { status, headers, body } = await cluster.call<{ code: string; error: string }>(
        "GET",
        `/sources/${pairs[0]?.source}/event_summaries`,
      );
      expect({ status, code: body.code }).toEqual({ status: 503, code: "database_unavailable" });
      expect(body.error).toMatch(/Postgres is unavailable .*: try again/);
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      await away;
      await until(() => pairs.every((pair) => taken(pair).size > (before.get(pair) ?? 0)), "events are delivered meanwhile", waitMs);
      await loading.stop();
      await until(() => gone.endpoint.heard.length > 0, "the endpoint that is gone was asked", waitMs);
      await until(async () => (await cluster.backlog())?.unrouted === 0, "nothing waits for Postgres in front of the others", waitMs);
      await comeBack();
      await untilQuiet(cluster, pairs);
      for (const pair of pairs) {
        await expectHistory(cluster, pair);
        expectOneIdEach(pair);
        await untilAttemptsAreTold(pair, []);
      }
      await until(async () => (await deadLetters()) === 1, "what nobody listens to is a dead letter", waitMs);
      runsOfGone = await expectHistory(cluster, gone);
    },
    outageSeconds * 1_000 + 600_000,
  );
});

/** They are written a moment after they have ended. */
const untilAttemptsAreTold = (pair: Pair, when: readonly Disturbance[]): Promise<void> =>
  vi.waitFor(() => expectAttempts(cluster, pair, when), { timeout: 60_000, interval: 1_000 });

async function deadLetters(): Promise<number | undefined> {
  const { body } = await cluster.call<{ page_info: { total_count: number } }>("GET", `/webhooks/${gone.webhook}/dead_letters`);
  return body.page_info.total_count;
}

function disturb(what: Target | NatsFault): Promise<void> {
  if (what === "new leaders") return cluster.changeLeaders();
  if (what === "stall") return cluster.stall("nats", stallMs);
  if (what === "lost volume") return cluster.loseVolume();
  return cluster.kill(what);
}

/** One after the other, now and then two at once; each is back before the next goes. @returns how often each was disturbed */
async function killAtRandom(random: () => number): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const choices = natsServers === 1 ? targets : [...targets, ...natsFaults];
  for (const end = performance.now() + killingSeconds * 1_000; performance.now() < end;) {
    const one = oneOf(choices, random);
    // Two of three NATS servers at once are more than may be missing.
    const two = random() < 0.25 && !isOfNats(one) ? oneOf(choices, random) : one;
    // A runner that was killed has no processes to lose.
    const victims = new Set(
      [one, two].includes("runner") ? [one === "sandbox" ? "runner" : one, two === "sandbox" ? "runner" : two] : [one, two],
    );
    const disturbance: Disturbance = { from: Date.now(), until: Number.POSITIVE_INFINITY };
    if ([...victims].some((victim) => concernAttempts.has(victim))) disturbances.push(disturbance);
    await Promise.all([...victims].map(disturb));
    disturbance.until = Date.now();
    for (const victim of victims) counts.set(victim, (counts.get(victim) ?? 0) + 1);
    await sleep(1_000 + random() * 3_000);
  }
  return counts;
}

const isOfNats = (what: Target | NatsFault): boolean => what === "nats" || natsFaults.some((fault) => fault === what);

describe.runIf(killingSeconds > 0)(`anybody, killed with -9 for ${killingSeconds} s, while endpoints fail in five ways`, () => {
  it(
    "what was accepted runs once, is kept once, counted once and delivered under one id, and attempts are told as they were made",
    async () => {
      const day = new Date().getUTCDate();
      const loading = load(cluster, pairs, 15);
      const failure = failing(pairs, seed + 1);
      const counts = await killAtRandom(randomOf(seed));
      process.stdout.write(`disturbed: ${[...counts].map(([what, times]) => `${what} ${times}`).join(", ")}\n`);
      await sleep(calmMs);
      await loading.stop();
      await failure.stop();
      await untilQuiet(cluster, pairs);
      let runs = runsOfGone;
      for (const pair of pairs) {
        runs += await expectHistory(cluster, pair);
        expectOneIdEach(pair);
      }
      const { body } = await cluster.call<{ data: { daily_invocations_used: number } }>("GET", "/users/me");
      // A day that ended meanwhile has taken its part of the use with it.
      if (new Date().getUTCDate() === day) expect(body.data.daily_invocations_used).toBe(await cluster.commits());
      expect(await cluster.commits()).toBeGreaterThanOrEqual(runs);
      for (const pair of pairs) await untilAttemptsAreTold(pair, disturbances);
    },
    killingSeconds * 1_000 + 600_000,
  );
});
