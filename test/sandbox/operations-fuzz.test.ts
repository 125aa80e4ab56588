import { describe, expect, it } from "vitest";
import { asyncOperations, postOperations, syncOperations, waitedOperations } from "../../runner/sandbox/operations/index.ts";
import { asyncExamples, postExamples, syncExamples, waitedExamples } from "./operation-examples.ts";
import { testHostileCalls } from "./operations-fuzz.ts";

/** What guests may ask the host for, with arguments that no guest of ours sends. */
describe("host operations", () => {
  it.each([
    ["synchronous", syncOperations, syncExamples],
    ["asynchronous", asyncOperations, asyncExamples(1)],
    ["waited for", waitedOperations, waitedExamples],
    ["without an answer", postOperations, postExamples(1)],
  ])("that are %s have an example each, from which hostile calls are made", (_, operations, examples) => {
    expect(Object.keys(examples).sort()).toEqual(Object.keys(operations).sort());
  });
});

testHostileCalls(24);
