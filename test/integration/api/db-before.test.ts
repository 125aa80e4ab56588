import fc from "fast-check";
import { expect, it } from "vitest";
import { dbBefore } from "../../../api/runs/db-before.ts";
import type { RunMessages } from "../../../api/streams/ports.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { runSubject } from "../../../domain/subjects.ts";

/** The db before a run, as it is found in RUNS. */
const [source, owner] = ["dc_0123456789ab", "u_0123456789ab"];
const subject = runSubject(partitionOf(source), owner, source);

interface Stored {
  readonly seq: number;
  readonly run: string;
  readonly startedAt: number;
  readonly db: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly dbChanges?: readonly { readonly prop: string; readonly key: string; readonly change: "added" | "changed" | "deleted" }[];
}

/** RUNS with these commits of the source among others, and the number of its reads. */
function runsWith(commits: readonly Stored[], kept: { readonly first: number; readonly last: number }) {
  let reads = 0;
  const runs: RunMessages = {
    follow: () => Promise.reject(new Error("not in this test")),
    recordedUpTo: () => Promise.reject(new Error("not in this test")),
    kept: async () => kept,
    findNext: async (wanted, sequence) => {
      reads += 1;
      expect(wanted).toBe(subject);
      const found = commits.find(({ seq }) => seq >= Math.max(sequence, kept.first));
      if (found === undefined) return undefined;
      const { seq, run, startedAt, db, dbChanges } = found;
      const text = JSON.stringify({ run: { id: run, startedAt, dbChanges }, state: { db } });
      return { subject, sequence: seq, bytes: text.length, text: () => text };
    },
  };
  return { runs, reads: () => reads };
}

const before = (commits: readonly Stored[], first: number, last: number, { run, startedAt }: Stored) =>
  dbBefore({ source, owner, id: run, startedAt }, runsWith(commits, { first, last }).runs);

/**
 * Finds the state of the commit before, wherever the commits of other sources are.
 * Method: random gaps between the commits of the source, compared with the commit that precedes in the list.
 */
it("finds the state of the previous commit by few reads", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 2, maxLength: 30 }), fc.nat(), async (gaps, chosen) => {
      let seq = 10;
      const commits = gaps.map((gap, index) => ({
        seq: (seq += gap),
        run: `r_${index}`,
        startedAt: index * 10,
        db: { db: { n: `${index}` } },
      }));
      const index = 1 + (chosen % (gaps.length - 1));
      const [own, previous] = [commits[index], commits[index - 1]];
      if (own === undefined) throw new Error("no commit");
      const { runs, reads } = runsWith(commits, { first: 5, last: seq + 100 });
      expect(await dbBefore({ source, owner, id: own.run, startedAt: own.startedAt }, runs)).toEqual(previous?.db);
      expect(reads()).toBeLessThanOrEqual(Math.ceil(Math.log2(seq + 100)) + 3);
    }),
    { numRuns: 200 },
  );
});

it("leaves out what the run added if the previous commit is trimmed, and nothing else", async () => {
  const commit = { seq: 50, run: "r_1", startedAt: 100, db: { db: { a: "1", b: "2" } } };
  const with_ = (dbChanges: NonNullable<Stored["dbChanges"]>) => before([{ ...commit, dbChanges }], 50, 60, commit);
  expect(await before([commit], 50, 60, commit)).toEqual(commit.db);
  expect(await with_([{ prop: "db", key: "b", change: "added" }])).toEqual({ db: { a: "1" } });
  expect(await with_([{ prop: "db", key: "b", change: "changed" }])).toBeUndefined();
  expect(await with_([{ prop: "db", key: "c", change: "deleted" }])).toBeUndefined();
  expect(await with_([{ prop: "db", key: "a shortened k…", change: "added" }])).toBeUndefined();
  expect(await with_(Array.from({ length: 10 }, () => ({ prop: "db", key: "a", change: "added" as const })))).toBeUndefined();
});

it("is undefined when the commit of the run is trimmed, of an empty stream, and for another run", async () => {
  const [old, later] = [5, 6].map((seq) => ({ seq, run: `r_${seq}`, startedAt: seq, db: { db: {} } }));
  if (old === undefined || later === undefined) throw new Error("no commit");
  expect(await before([later], 6, 9, old)).toBeUndefined();
  expect(await before([], 7, 6, old)).toBeUndefined();
  expect(await before([{ ...old, run: "r_other" }], 5, 9, old)).toBeUndefined();
});
