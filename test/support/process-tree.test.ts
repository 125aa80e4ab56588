import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { cpuBetween, cpuOf, memoryOf, processTree, total } from "./process-tree.ts";

const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
});

/** A process with a child of its own in another session; both compute for that long, then say so and wait. */
async function family(computeMs: number): Promise<number> {
  const compute = `const until = Date.now() + ${computeMs}; while (Date.now() < until); console.log("done"); setInterval(() => {}, 1000); process.stdin.on("end", () => process.exit()).resume();`;
  const parent = `const child = require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(compute)}], { detached: true, stdio: ["pipe", "pipe", "inherit"] }); child.stdout.once("data", () => { ${compute} });`;
  const child = spawn(process.execPath, ["-e", parent], { stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  await once(child.stdout, "data");
  return child.pid ?? 0;
}

describe.runIf(process.platform === "linux")("the account of a process tree", () => {
  it("covers children in sessions of their own", async () => {
    expect(processTree([await family(0)])).toHaveLength(2);
  });

  it("counts the CPU time and memory of all of them", async () => {
    const pid = await family(300);
    const used = total(cpuBetween([], cpuOf([pid])));
    // Both computed for 300 ms of wall time, on a machine that others use as well.
    expect(used).toBeGreaterThan(100);
    expect(total(memoryOf([pid]))).toBeGreaterThan(20 * 2 ** 20);
  });

  it("counts what was used between two looks, and all of a process that began in between", () => {
    const before = [{ pid: 1, part: "runner", cpuMs: 100 }];
    const after = [
      { pid: 1, part: "runner", cpuMs: 130 },
      { pid: 2, part: "sandbox", cpuMs: 7 },
      { pid: 3, part: "sandbox", cpuMs: 2 },
    ];
    expect([...cpuBetween(before, after)]).toEqual([
      ["runner", 30],
      ["sandbox", 9],
    ]);
  });
});
