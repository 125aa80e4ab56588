import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { WorkflowRunState } from "../../../domain/workflow/run-state.ts";
import {
  charactersOf,
  pagesOf,
  partsOfReference,
  referencesIn,
  referenceTo,
  withReferences,
  withTexts,
} from "../../../domain/workflow/state-pages.ts";

const position = {
  status: "running",
  next: 0,
  failures: 0,
  reruns: 0,
  rerunContext: null,
  suspension: null,
  suspensions: 0,
  resumedBy: null,
};
const run = { ...position, deployment: "d_1", startedAt: 1, sends: [], response: null };

/** JSON texts, some of them long enough to be pages. */
const text = fc.oneof(
  fc.jsonValue().map((value) => JSON.stringify(value)),
  fc.integer({ min: 7_000, max: 80_000 }).map((length) => JSON.stringify("x".repeat(length))),
);
const results = fc.array(text, { maxLength: 12 });
const { place } = fc.letrec<{ place: object; fork: object }>((tie) => ({
  place: fc.record(
    {
      steps: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), text, { maxKeys: 4 }),
      frames: fc.array(fc.record({ step: fc.nat(), part: fc.nat(), items: text, results }, { requiredKeys: ["step", "part"] }), {
        maxLength: 2,
      }),
      fork: fc.oneof({ maxDepth: 2, depthIdentifier: "forks" }, fc.constant(undefined), tie("fork")),
    },
    { requiredKeys: ["steps"] },
  ),
  fork: fc.record({
    count: fc.nat(),
    started: fc.nat(),
    items: text,
    results: fc.array(fc.option(text), { maxLength: 12 }),
    branches: fc.array(
      tie("place").map((branch) => ({ ...position, id: 1, index: 0, ...branch })),
      { maxLength: 2 },
    ),
  }),
}));
const states = fc
  .tuple(place, text)
  .map(([at, event]) => JSON.parse(JSON.stringify({ ...run, ...at, trigger: { kind: "http", event, at: 1 } })) as WorkflowRunState);

/** The state as it is stored, and what its references stand for. */
function stored(state: WorkflowRunState) {
  const references = new Map([...pagesOf(state)].map((page, index) => [page, referenceTo([`part${index}`, `more${index}`])]));
  const texts = new Map([...references].map(([page, reference]) => [reference, page]));
  return { references, texts, text: JSON.stringify(withReferences(state, references)) };
}

it("a state is what it was when it has been stored in pages", () => {
  fc.assert(
    fc.property(states, (state) => {
      const { texts, text: inCommit } = stored(state);
      const read = JSON.parse(inCommit) as WorkflowRunState;
      expect(new Set(referencesIn(read))).toEqual(new Set(texts.keys()));
      expect(withTexts(read, texts)).toEqual(state);
    }),
    { numRuns: 300 },
  );
});

it("texts that could not be stored stay in the state", () => {
  fc.assert(
    fc.property(states, fc.infiniteStream(fc.boolean()), (state, areStored) => {
      const { references, texts } = stored(state);
      const some = new Map([...references].filter(() => areStored.next().value === true));
      expect(withTexts(withReferences(state, some), texts)).toEqual(state);
    }),
    { numRuns: 100 },
  );
});

it("only short texts are left of a large state, and those of results that follow one that is missing", () => {
  fc.assert(
    fc.property(states, (state) => {
      const { references } = stored(state);
      const left = withReferences(state, references);
      // Beside its references, which have characters, too.
      expect(pagesOf(withTexts(left, new Map())).size).toBe(0);
      expect(charactersOf(left)).toBeLessThanOrEqual(charactersOf(state) + 20 * references.size);
    }),
    { numRuns: 100 },
  );
});

it("further results of a loop leave the pages of earlier ones as they are", () => {
  const list = Array.from({ length: 100 }, (_, index) => JSON.stringify(`${index} ${"x".repeat(3_000)}`));
  const pagesOfFirst = (count: number): ReadonlySet<string> => {
    const fork = { count: 100, started: 100, results: list.map((each, index) => (index < count ? each : null)), branches: [] };
    return pagesOf({ ...run, steps: {}, trigger: { kind: "http", event: "{}", at: 1 }, fork } as WorkflowRunState);
  };
  let before: ReadonlySet<string> = new Set();
  for (let count = 0; count <= 100; count++) {
    const pages = pagesOfFirst(count);
    expect([...before].every((page) => pages.has(page))).toBe(true);
    before = pages;
  }
  expect(before.size).toBe(4);
});

it("a reference names parts", () => {
  expect(partsOfReference(referenceTo(["a-1", "b-2"]))).toEqual(["a-1", "b-2"]);
});
