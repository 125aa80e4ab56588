import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { liveBounds, type LiveBounds } from "../../../api/streams/live-bounds.ts";
import { LiveEmitters } from "../../../api/search/live-emitters.ts";
import { commitsBetween } from "../../../api/search/live-gap.ts";
import { LiveSearch } from "../../../api/search/live-search.ts";
import type { Item } from "../../../api/streams/frames.ts";
import type { RunMessage } from "../../../api/streams/ports.ts";
import type { VisibleObjects } from "../../../api/traces/visible-objects.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { Budget } from "../../../domain/limits/budget.ts";
import { FairSemaphore } from "../../../domain/limits/fair-semaphore.ts";
import { SharedRate } from "../../../domain/limits/shared-rate.ts";
import { Turns } from "../../../domain/limits/turns.ts";
import { parseSearch } from "../../../domain/search/query.ts";
import { partsOfRun, runSubject } from "../../../domain/subjects.ts";
import { until } from "../../support/until.ts";
import { committedEvent as event } from "../committed-event.ts";
import { commitOf } from "./streams-support.ts";

/** What a live search skips, and that it says so: over commits, names and rates as a test wants them. */
const source = "dc_orders";
const owner = "u_ada";
let sequence = 0;

/** A commit with so many matching events. */
function message(events: number, given: { readonly owner?: string; readonly padding?: number } = {}): RunMessage {
  const at = ++sequence;
  const made = Array.from({ length: events }, (_, index) => event(`${1_800_000_000_000 + at}-${index}`, { payload: '"x"' }));
  const text = JSON.stringify({ ...commitOf(source, given.owner ?? owner, made), padding: "y".repeat(given.padding ?? 0) });
  return {
    subject: runSubject(partitionOf(source), given.owner ?? owner, source),
    sequence: at,
    bytes: text.length,
    text: () => text,
  };
}

interface Given {
  readonly bounds?: Partial<LiveBounds>;
  readonly costPerSecond?: number;
  readonly shared?: ReturnType<typeof share>;
  readonly pending?: number;
  readonly after?: string;
  readonly stored?: readonly RunMessage[];
  readonly namesOf?: () => Promise<{ readonly name: string } | undefined>;
  readonly lookups?: number;
  readonly q?: string;
}

/** What all live searches of a process share. */
const share = (costPerSecond = 1e9, costPerTurn: number = liveBounds.costPerTurn) => ({
  rate: new SharedRate({ total: costPerSecond, share: costPerSecond }),
  turns: new Turns(costPerTurn, () => setImmediate()),
  gaps: new FairSemaphore({ permitsPerKey: 1 }),
});

const searches: LiveSearch[] = [];
afterEach(() => searches.splice(0).forEach((search) => search.stop()));

function start(given: Given = {}) {
  const { pending = 100, after, stored = [], namesOf = async () => ({ name: "Orders" }), lookups = 10, q = "kind:event" } = given;
  const shared = given.shared ?? share(given.costPerSecond);
  const sent: Item[] = [];
  const log: object[] = [];
  const budget = new Budget({ total: pending });
  const search = new LiveSearch(
    { query: parseSearch(q, 0), owners: [owner], after, user: owner },
    {
      ...shared,
      emitters: new LiveEmitters(
        {},
        () => ({ namesOf, forget: () => {} }) as unknown as VisibleObjects,
        { warn: (fields) => void log.push(fields) },
        { perSecond: 1e-6, burst: lookups },
      ),
      stream: { receive: (_, items) => void sent.push(...items) },
      runs: {
        findNext: async (subject, from) =>
          stored.find((one) => one.sequence >= from && subject.split(".")[2] === partsOfRun(one.subject).owner),
      },
      rate: shared.rate.open(owner, 0),
      pending: budget.open(owner),
    },
    { ...liveBounds, ...given.bounds },
  );
  searches.push(search);
  /** Of all notes. */
  const lost = (): readonly number[] =>
    skipped()
      .map((text) => JSON.parse(text) as { readonly commits: number; readonly items: number })
      .reduce<readonly number[]>(([commits = 0, matches = 0], note) => [commits + note.commits, matches + note.items], [0, 0]);
  const skipped = (items: readonly Item[] = sent) => items.flatMap(({ frame }) => /^event: skipped\ndata: (.*)\n/.exec(frame)?.[1] ?? []);
  const ids = (items: readonly Item[] = sent) => items.flatMap(({ id, frame }) => (frame.includes("event: ") ? [] : [id]));
  return { search, sent, log, skipped, lost, ids, budget, rate: shared.rate };
}

describe("a live search", () => {
  test("skips commits beyond its share without decoding them, and says how many", async () => {
    const { search, ids, lost } = start({ costPerSecond: 1 });
    const [first, ...others] = [message(1), message(1), message(2)];
    for (const one of [first, ...others])
      search.receive({ ...one, text: one === first ? one.text : () => expect.unreachable("it is decoded") } as RunMessage);
    await until(() => ids().length === 1 && lost()[0] === 2);
    expect([ids(), lost()]).toEqual([[`${first?.sequence}-1`], [2, 0]]);
  });

  test("skips matches beyond its rate, and says how many", async () => {
    const { search, ids, lost, skipped } = start({ bounds: { items: { perSecond: 1e-6, burst: 3 } } });
    search.receive(message(5));
    search.receive(message(2));
    await until(() => lost()[1] === 4);
    expect([ids().length, lost(), skipped()[0]]).toEqual([3, [0, 4], '{"commits":0,"items":1}']);
    // It is quiet then, and says the next one at once again.
    search.receive(message(1));
    await until(() => lost()[1] === 5);
  });

  test("keeps no more matches than allowed while it waits for Postgres, then sends them in order", async () => {
    const name = Promise.withResolvers<{ readonly name: string }>();
    const { search, ids, lost, budget } = start({ pending: 4, namesOf: () => name.promise });
    const [one, other] = [message(3), message(3)];
    search.receive(one);
    search.receive(other);
    await until(() => lost()[1] === 2);
    expect([budget.used, ids()]).toEqual([4, []]);
    name.resolve({ name: "Orders" });
    await until(() => ids().length === 4);
    expect(ids()).toEqual([1, 2, 3].map((index) => `${one.sequence}-${index}`).concat(`${other.sequence}-1`));
    expect(budget.used).toBe(0);
  });

  test("loses nothing when a name cannot be read at first", async () => {
    let failures = 2;
    const { search, ids, log } = start({
      namesOf: async () => {
        if (failures-- > 0) throw new Error("Postgres is away");
        return { name: "Orders" };
      },
    });
    search.receive(message(2));
    await until(() => ids().length === 2);
    expect(log).toMatchObject([{ op: "search.live" }]);
  });

  test("ignores what is no commit", async () => {
    const { search, ids } = start();
    for (const text of ["{}", "no JSON", '{"source":1}', '{"ended":null}']) search.receive({ ...message(1), text: () => text });
    const last = message(1);
    search.receive(last);
    await until(() => ids().length > 0);
    expect(ids()).toEqual([`${last.sequence}-1`]);
  });

  test("holds nothing once it is stopped", async () => {
    const [name, asked] = [Promise.withResolvers<{ readonly name: string }>(), Promise.withResolvers<void>()];
    const namesOf = () => {
      asked.resolve();
      return name.promise;
    };
    const { search, sent, budget, rate } = start({ namesOf });
    rate.open("u_bob", 0);
    const before = rate.perSecond;
    search.receive(message(3));
    await asked.promise;
    search.receive(message(3));
    search.stop();
    search.stop();
    search.receive(message(3));
    name.resolve({ name: "Orders" });
    await setImmediate();
    await setImmediate();
    expect([budget.used, rate.perSecond > before, sent]).toEqual([0, true, []]);
  });

  test("says that it is up to date only when everything before was sent", async () => {
    const name = Promise.withResolvers<{ readonly name: string }>();
    const { search, sent, ids } = start({ namesOf: () => name.promise });
    search.tick(sequence + 1);
    await search.before({ first: 1, last: sequence });
    const one = message(1);
    search.receive(one);
    search.tick(one.sequence);
    expect(sent).toEqual([]);
    name.resolve({ name: "Orders" });
    await until(() => ids().length === 1);
    await until(() => {
      search.tick(one.sequence);
      return sent.length > 1;
    });
    search.tick(one.sequence);
    expect(sent.map(({ id }) => id)).toEqual([`${one.sequence}-1`, `${one.sequence}-999999999`]);
  });
});

describe("many live searches", () => {
  test("decode a commit once for all of them, and not while they are called back", async () => {
    const shared = share();
    const all = Array.from({ length: 20 }, () => start({ shared }));
    let decoded = 0;
    const one = message(3);
    const counted = {
      ...one,
      text: () => {
        decoded++;
        return one.text();
      },
    };
    for (const { search } of all) search.receive(counted);
    expect(decoded).toBe(0);
    await until(() => all.every(({ ids }) => ids().length === 3));
    expect(decoded).toBe(1);
  });

  test("do a bounded part of their work in a turn of the event loop", async () => {
    const shared = share(1e12, 1);
    const all = Array.from({ length: 4 }, () => start({ shared, pending: 10_000, bounds: { items: { perSecond: 1, burst: 10_000 } } }));
    const one = message(1_000);
    for (const { search } of all) search.receive(one);
    // A step costs about 65,536, and an item 200.
    const compared = () => all.reduce((sum, { budget, ids }) => sum + budget.used + ids().length, 0);
    const parts: number[] = [];
    for (let before = 0; before < 4_000; before = compared()) {
      await setImmediate();
      parts.push(compared() - before);
    }
    expect(Math.max(...parts)).toBeLessThanOrEqual(2 * Math.ceil(65_536 / 200));
    await until(() => all.every(({ ids }) => ids().length === 1_000));
    for (const { ids } of all) expect(ids()).toEqual(Array.from({ length: 1_000 }, (_, index) => `${one.sequence}-${index + 1}`));
  });

  test("of a user have one share, which what a commit contains uses up", async () => {
    const words = Array.from({ length: 9 }, (_, index) => `-word${index}`).join(" ");
    const shared = share(2_000);
    const [costly, other] = [start({ shared, q: `kind:event ${words}` }), start({ shared })];
    const bobs = shared.rate.open("u_bob", 0);
    costly.search.receive(message(4, { padding: 100 }));
    await until(() => costly.ids().length === 4);
    const later = message(1);
    other.search.receive(later);
    await until(() => other.lost()[0] === 1);
    expect([other.ids(), bobs.use(1, performance.now())]).toEqual([[], true]);
  });
});

describe("a source that is not known yet", () => {
  test("is looked up again for the next commit, and its matches are reported as skipped until then", async () => {
    let asked = 0;
    const { search, ids, lost } = start({ namesOf: async () => (++asked === 1 ? undefined : { name: "Orders" }) });
    search.receive(message(2));
    await until(() => lost()[1] === 2);
    expect(asked).toBe(1);
    const next = message(1);
    search.receive(next);
    await until(() => ids().length === 1);
    expect(ids()).toEqual([`${next.sequence}-1`]);
  });

  test("is looked up at a bounded rate", async () => {
    let asked = 0;
    const { search, lost } = start({
      lookups: 2,
      namesOf: async () => {
        asked++;
        return undefined;
      },
    });
    for (let nth = 0; nth < 9; nth++) search.receive(message(1));
    await until(() => lost()[1] === 9);
    expect(asked).toBe(3);
  });
});

describe("what a live search continues with", () => {
  const gapOf = async (given: Given, last = sequence) => {
    const { search, ids, skipped } = start(given);
    const items = await search.before({ first: 1, last });
    return { ids: ids(items), skipped: skipped(items), position: items.at(-1)?.id };
  };

  test("is everything behind an item, up to the last commit", async () => {
    const stored = [message(3), message(1), message(1)];
    const [first, second, third] = stored.map((one) => one.sequence);
    expect(await gapOf({ stored, after: `${first}-2` }, second)).toEqual({
      ids: [`${first}-3`, `${second}-1`],
      skipped: [],
      position: `${second}-999999999`,
    });
    expect((await gapOf({ stored, after: `${first}-999999999` })).ids).toEqual([`${second}-1`, `${third}-1`]);
  });

  test.each<[string, Partial<LiveBounds["gap"]>, number]>([
    ["commits", { commits: 2 }, 4],
    ["bytes", { bytes: 1_000 }, 2],
    ["items", { items: 3 }, 3],
  ])("ends after so many %s, and says so", async (_, bound, expected) => {
    const stored = [message(2, { padding: 300 }), message(2, { padding: 300 }), message(2)];
    const { ids, skipped } = await gapOf({
      stored,
      after: `${(stored[0]?.sequence ?? 0) - 1}-0`,
      bounds: { gap: { ...liveBounds.gap, ...bound } },
    });
    expect([ids.length, skipped]).toEqual([expected, ['{"commits":null,"items":0}']]);
  });

  test("is skipped when the user's share is used up", async () => {
    const shared = share(1);
    const stored = [message(1), message(1)];
    const { ids, skipped } = await gapOf({ stored, shared, after: `${(stored[0]?.sequence ?? 0) - 1}-0` });
    expect([ids, skipped]).toEqual([[`${stored[0]?.sequence}-1`], ['{"commits":null,"items":0}']]);
  });

  test("reports matches of a source that is not known", async () => {
    const stored = [message(3)];
    const after = `${(stored[0]?.sequence ?? 0) - 1}-0`;
    const { ids, skipped } = await gapOf({ stored, after, namesOf: async () => undefined });
    expect([ids, skipped]).toEqual([[], ['{"commits":0,"items":3}']]);
  });

  test("is not read for readers who leave while they wait for their turn", async () => {
    const shared = share();
    const busy = Promise.withResolvers<void>();
    const first = shared.gaps.use(owner, () => busy.promise);
    const { search } = start({ shared, stored: [message(1)], after: `${sequence - 1}-0` });
    const before = search.before({ first: 1, last: sequence });
    expect(shared.gaps.waitingFor(owner)).toBe(1);
    search.stop();
    expect(shared.gaps.waitingFor(owner)).toBe(0);
    expect((await before).map(({ id }) => id)).toEqual([`${sequence}-999999999`]);
    busy.resolve();
    await first;
  });

  /** Oracle: all commits of the owners, sorted. Method: random commits of some owners, small and large, some of which are removed after they were found. */
  test("is in the order of commits, of all owners together", async () => {
    const commits = fc.array(
      fc.record({ owner: fc.constantFrom("u_1", "o_2", "o_3", "u_other"), isLarge: fc.boolean(), isRemoved: fc.boolean() }),
      {
        maxLength: 30,
      },
    );
    await fc.assert(
      fc.asyncProperty(commits, fc.nat(30), fc.nat(30), async (given, from, to) => {
        const stored = given.map(({ owner: of, isLarge, isRemoved }, index) => ({
          subject: runSubject(1, of, source),
          sequence: index + 1,
          bytes: isLarge ? 100_000 : 10,
          text: () => "",
          isRemoved,
        }));
        const asked = new Set<number>();
        const findNext = async (subject: string, at: number) => {
          const found = stored.find(
            (one) =>
              one.sequence >= at &&
              partsOfRun(one.subject).owner === subject.split(".")[2] &&
              !(one.isRemoved && one.bytes > 65_536 && asked.has(one.sequence)),
          );
          if (found !== undefined) asked.add(found.sequence);
          return found;
        };
        const read: number[] = [];
        for await (const one of commitsBetween({ findNext }, { owners: ["u_1", "o_2", "o_3"], from, to })) read.push(one.sequence);
        const expected = stored.filter(
          (one) => one.sequence >= from && one.sequence <= to && !one.subject.includes("u_other") && !(one.isRemoved && one.bytes > 65_536),
        );
        expect(read).toEqual(expected.map((one) => one.sequence));
      }),
    );
  });
});
