import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startCluster, type Cluster, type Target } from "../support/system/cluster.ts";
import { natsServerCount } from "../support/nats/nats-servers.ts";
import { until } from "../support/until.ts";
import { expectAttempts, expectHistory, expectOneIdEach, untilQuiet, type Disturbance } from "./support/ledger.ts";
import { failing, load, oneOf } from "./support/mixed-load.ts";
import { seeded } from "../support/random.ts";
import { closeAgent, createPair, relay, send, taken, type Pair } from "./support/sources-with-endpoints.ts";

/** `npm run chaos` kills at random, with a longer outage. The same seed makes the same choices in the same order. */
const killingSeconds = Number(process.env["HEADWATER_TEST_CHAOS_SECONDS"] ?? 0);
const outageSeconds = Number(process.env["HEADWATER_TEST_CHAOS_OUTAGE_SECONDS"] ?? 20);
const seed = Number(process.env["HEADWATER_TEST_CHAOS_SEED"] ?? Date.now() % 1_000_000);

const targets: readonly Target[] = ["delivery", "runner", "ingress", "api", "sandbox", "nats", "postgres"];
/** Further faults with several NATS servers. */
const natsFaults = ["new leaders", "stall", "lost volume"] as const;
type NatsFault = (typeof natsFaults)[number];
const stallMs = 20_000;
/** Faults that may change the list of attempts. */
const concernAttempts: ReadonlySet<Target | NatsFault> = new Set(["delivery", "nats", "postgres", ...natsFaults]);
/** Longer than the history takes to record the interrupted work. */
const calmMs = 20_000;

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
});
afterAll(async () => {
  await cluster.stop();
  await Promise.all([...pairs, gone].map(({ endpoint }) => endpoint.close()));
  await closeAgent();
  await directory.remove();
});

describe(`Postgres, down for ${outageSeconds} s under load`, () => {
  it(
    "fails only reads: runs and deliveries continue, and the history catches up",
    async () => {
      gone.endpoint.behave(() => "gone");
      const loading = load(cluster, pairs, 15);
      await until(() => pairs.every((pair) => taken(pair).size > 1), "work is under way");
      const comeBack = await cluster.takeAway("postgres");
      const before = new Map(pairs.map((pair) => [pair, taken(pair).size]));
      const away = sleep(outageSeconds * 1_000);
      // Its event can become a dead letter only once Postgres is back.
      await send(gone, "no-endpoint");
      const { status, headers, body } = await cluster.call<{ code: string; error: string }>(
        "GET",
        `/sources/${pairs[0]?.source}/event_summaries`,
      );
      expect({ status, code: body.code }).toEqual({ status: 503, code: "database_unavailable" });
      expect(body.error).toMatch(/Postgres is unavailable .*: try again/);
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      await away;
      await until(() => pairs.every((pair) => taken(pair).size > (before.get(pair) ?? 0)), "events are delivered in the meantime");
      await loading.stop();
      await until(() => gone.endpoint.heard.length > 0, "the endpoint that answers 410 has received the event");
      await until(async () => (await cluster.backlog())?.unrouted === 0, "no event waits for Postgres before it is routed");
      await comeBack();
      await untilQuiet(cluster, pairs);
      for (const pair of pairs) {
        await expectHistory(cluster, pair);
        expectOneIdEach(pair);
        await untilAttemptsAreListed(pair, []);
      }
      await until(async () => (await deadLetters()) === 1, "the undelivered event is a dead letter");
      runsOfGone = await expectHistory(cluster, gone);
    },
    outageSeconds * 1_000 + 600_000,
  );
});

/** Attempts are written a moment after they have ended. */
const untilAttemptsAreListed = (pair: Pair, when: readonly Disturbance[]): Promise<void> =>
  vi.waitFor(() => expectAttempts(cluster, pair, when), { timeout: 120_000, interval: 1_000 });

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

/** Disturbs one target at a time, sometimes two. Each is back before the next disturbance. @returns how often each was disturbed */
async function killAtRandom(random: () => number): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const choices = natsServerCount === 1 ? targets : [...targets, ...natsFaults];
  for (const end = performance.now() + killingSeconds * 1_000; performance.now() < end;) {
    const one = oneOf(choices, random);
    // A cluster of three NATS servers tolerates the loss of one.
    const two = random() < 0.25 && !isOfNats(one) ? oneOf(choices, random) : one;
    // A killed runner has no sandbox processes left to kill.
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

describe.runIf(killingSeconds > 0)(`processes killed with -9 for ${killingSeconds} s, while endpoints fail in five ways`, () => {
  it(
    "run, store, count and deliver each accepted request once, and list the attempts that were made",
    async () => {
      const day = new Date().getUTCDate();
      const loading = load(cluster, pairs, 15);
      const failure = failing(pairs, seed + 1);
      const counts = await killAtRandom(seeded(seed));
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
      // The usage of a day that ended in the meantime is no longer counted.
      if (new Date().getUTCDate() === day) expect(body.data.daily_invocations_used).toBe(await cluster.commits());
      expect(await cluster.commits()).toBeGreaterThanOrEqual(runs);
      for (const pair of pairs) await untilAttemptsAreListed(pair, disturbances);
    },
    killingSeconds * 1_000 + 600_000,
  );
});
