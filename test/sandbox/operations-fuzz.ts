import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it } from "vitest";

/** Calls every host operation with hostile values, in a process of its own. @param step one of so many calls is made */
export function testHostileCalls(step: number): void {
  it("host operations survive any value in any argument, and answer soon", async () => {
    const program = spawn(process.execPath, [join(import.meta.dirname, "operations-fuzz-program.ts")], {
      env: { UV_THREADPOOL_SIZE: "4", SAMPLE_STEP: String(step) },
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
}
