import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { asyncOperations, postOperations, syncOperations, waitedOperations } from "../../runner/sandbox/operations/index.ts";
import { isSoak } from "../support/soak.ts";
import { asyncExamples, postExamples, syncExamples, waitedExamples } from "./operation-examples.ts";

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

  it("survive any value in any argument, and answer soon", async () => {
    const program = spawn(process.execPath, [join(import.meta.dirname, "operations-fuzz-program.ts")], {
      env: { UV_THREADPOOL_SIZE: "4", SAMPLE_STEP: isSoak ? "1" : "12" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let out = "";
    let errors = "";
    program.stdout.on("data", (chunk) => (out += String(chunk)));
    program.stderr.on("data", (chunk) => (errors += String(chunk)));
    await once(program, "close");
    const lines = out.trimEnd().split("\n");
    expect(lines.filter((line) => line.startsWith("FAIL"))).toEqual([]);
    // The last line of a process that died names the call that ended it.
    expect(`${lines.at(-1)} ${errors.slice(0, 500)}`).toMatch(/^done: \d+ calls $/);
  });
});
