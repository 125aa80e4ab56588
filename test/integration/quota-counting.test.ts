import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { dayOf, isUsedUp, type Quotas, type Use } from "../../domain/limits/quota.ts";
import { partitionCount } from "../../domain/subjects.ts";
import type { History } from "../../delivery/record/ports.ts";
import type { Reading } from "../../delivery/routing/ports.ts";
import { createAccounts } from "../../platform/postgres/accounts/index.ts";
import { listOverQuota } from "../../platform/postgres/quotas.ts";
import { withJetStream } from "./jetstream/support.ts";
import { until } from "../support/until.ts";
import { withMigratedPostgres } from "../support/postgres.ts";
import { withDatabase, withHistory } from "./postgres/support.ts";
import { commitRun, startCounting, TestClock } from "./quota-support.ts";

const postgres = withMigratedPostgres();
const [database, read] = [withDatabase("delivery", postgres), withDatabase("api", postgres)];
const nats = withJetStream({ partitions: partitionCount });
const accounts = createAccounts(read);
const history = withHistory({}, postgres);
const clock = new TestClock();
const dayMs = 86_400_000;

const running: Reading[] = [];
const dead: (() => void)[] = [];
afterEach(async () => {
  for (const bury of dead.splice(0)) bury();
  for (const each of running.splice(0)) await each.stop();
});

/** A recorder that dies after a number of batches, before it receives the result of the last one. */
function dyingAfter(batches: number): { readonly change: (history: History) => History; readonly died: Promise<void> } {
  const [died, buried] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  dead.push(buried.resolve);
  let written = 0;
  const change = (real: History): History => ({
    ...real,
    recordCommits: async (commits, expected) => {
      const refused = await real.recordCommits(commits, expected);
      if (++written < batches) return refused;
      died.resolve();
      await buried.promise;
      return refused;
    },
  });
  return { change, died: died.promise };
}

describe("usage of owners", () => {
  /** Oracle: the committed runs. Recorders die between the write and its result, one after the other; the last two run concurrently. */
  it("is counted once, however often recorders die and however many run", async () => {
    const yesterday = clock.now() - dayMs;
    const { startMs } = dayOf(clock.now());
    const expected = new Map<string, Use>();
    const commitSome = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n++) {
        const owner = `u_count${n % 3}`;
        const before = expected.get(owner) ?? { runs: 0, computeMs: 0 };
        expected.set(owner, { runs: before.runs + 1, computeMs: before.computeMs + n });
        await commitRun(nats.connection, owner, `dc_count${n % 7}of${n % 3}`, clock.now(), n);
      }
      await commitRun(nats.connection, "u_count0", "dc_earlier", yesterday, 1_000_000);
    };
    for (const batches of [1, 2, 1]) {
      const { change, died } = dyingAfter(batches);
      running.push(await startCounting(database, await nats.addConnection(), clock, change));
      await commitSome(40);
      await died;
    }
    running.push(await startCounting(database, nats.connection, clock), await startCounting(database, await nats.addConnection(), clock));
    await commitSome(40);
    // Partitions are recorded independently of each other.
    const isCounted = async (owner: string, dayStartMs: number, runs: number): Promise<boolean> =>
      (await history.readUsage(owner, dayStartMs)).runs >= runs;
    await until(() => isCounted("u_count0", startMs - dayMs, 4), "the runs of yesterday are recorded");
    for (const [owner, { runs }] of expected) await until(() => isCounted(owner, startMs, runs), `the runs of ${owner} are recorded`);
    for (const [owner, use] of expected) expect([owner, await history.readUsage(owner, startMs)]).toEqual([owner, use]);
    expect(await history.readUsage("u_count0", startMs - dayMs)).toEqual({ runs: 4, computeMs: 4_000_000 });
  });

  it("includes runs of a source deleted before they were recorded, and ignores negative values", async () => {
    await history.deleteSource("dc_short");
    const counting = await startCounting(database, nats.connection, clock);
    running.push(counting);
    await commitRun(nats.connection, "u_short", "dc_short", clock.now(), 20);
    await commitRun(nats.connection, "u_short", "dc_long", clock.now(), -1_000);
    const used = (): Promise<Use> => history.readUsage("u_short", dayOf(clock.now()).startMs);
    await until(async () => (await used()).runs === 2, "both are recorded");
    expect((await used()).computeMs).toBe(20);
    expect((await history.pageRuns("dc_short", { limit: 10, cursor: null })).total).toBe(0);
  });

  /** Oracle: the rule of the domain, owner by owner. */
  it("exceeds the quota in the database exactly when it does in the domain", async () => {
    const quota = fc.option(fc.nat(4));
    const given = fc.record({
      plan: fc.record({ dailyInvocations: quota, dailyComputeMs: quota }),
      chosen: fc.boolean(),
      use: fc.option(fc.record({ runs: fc.integer({ min: 1, max: 5 }), computeMs: fc.nat(5) })),
    });
    let day = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(given, { minLength: 1, maxLength: 6 }), given, async (owners, { plan: usual }) => {
        day += dayMs;
        await accounts.savePlan({ name: "default", form: "free", ...usual, weight: 1, maxOrganizations: 20 });
        const over: string[] = [];
        for (const [index, { plan, chosen, use }] of owners.entries()) {
          const owner = `u_day${day / dayMs}n${index}`;
          const name = `p${day / dayMs}n${index}`;
          if (chosen) {
            await accounts.savePlan({ name, form: "free", ...plan, weight: 1, maxOrganizations: 20 });
            await accounts.choosePlan(owner, name);
          }
          if (use !== null)
            await database.db.insertInto("usage").values({ owner, day_ms: day, runs: use.runs, compute_ms: use.computeMs }).execute();
          const quotas: Quotas = chosen ? plan : usual;
          // Owners on the default plan are found by their usage.
          if ((chosen || use !== null) && isUsedUp(quotas, use ?? { runs: 0, computeMs: 0 })) over.push(owner);
        }
        const found = (await listOverQuota(database.db, day)).filter((owner) => owner.startsWith(`u_day${day / dayMs}n`));
        expect(found.toSorted()).toEqual(over.toSorted());
      }),
      { numRuns: 40 },
    );
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
