import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { SoleRunGrowth } from "../../runner/sandbox/children/memory-blame.ts";
import { startGate } from "./gate.ts";
import { sandboxPids } from "./processes.ts";
import { until } from "../support/until.ts";
import { errorOf, type SandboxFixture, startSandbox } from "./sandbox-fixture.ts";

const fixtures: SandboxFixture[] = [];
afterEach(async () => {
  await Promise.all(fixtures.splice(0).map((fixture) => fixture.stop()));
});

async function start(options?: Parameters<typeof startSandbox>[0]): Promise<SandboxFixture> {
  const fixture = await startSandbox(options);
  fixtures.push(fixture);
  return fixture;
}

const limits = { memoryMb: 128 };
/** Keeps 20 MB in its module state. */
const holder = `const held = new Uint8Array(20 * 2 ** 20).fill(1); export default { name: "h", run: () => held.length }`;
/** Uses 60 MB until the gate opens. */
const innocent = `export default { name: "i", async run(url) { const held = new Uint8Array(60 * 2 ** 20).fill(1); await (await fetch(url)).text(); return held.length; } }`;

describe("a child over its memory limit", () => {
  it("is replaced without blame when the only run in it took little: the run is repeated and returns", async () => {
    const fixture = await start({ residentLimitMb: 270 });
    const gate = await startGate();
    onTestFinished(() => gate.stop());
    const [child] = sandboxPids();
    let count = 0;
    // Warm isolates of other owners fill most of the child.
    while (fixture.sandbox.stats().residentBytes < 230 * 2 ** 20) {
      const before = fixture.sandbox.stats().residentBytes;
      expect(await fixture.run(holder, { source: `dc_holder${count++}`, owner: `u_${count}`, limits })).toMatchObject({
        outcome: "returned",
      });
      await until(() => fixture.sandbox.stats().residentBytes >= before + 15 * 2 ** 20, "its memory to be measured");
    }
    expect(sandboxPids()).toEqual([child]);
    const running = fixture.run(innocent, { owner: "u_innocent", event: JSON.stringify(gate.url), limits });
    await until(() => !sandboxPids().includes(child ?? 0), "the end of the child");
    gate.open();
    expect(await running).toMatchObject({ outcome: "returned", result: `${60 * 2 ** 20}` });
    // Nor is its owner a suspect, which would have an exclusive child.
    const pids = sandboxPids();
    expect(await fixture.run(`export default { name: "c", run: () => 42 }`, { owner: "u_innocent" })).toMatchObject({ result: "42" });
    expect(sandboxPids().filter((pid) => !pids.includes(pid))).toEqual([]);
  });

  it("ends a run that measurably filled it by its memory limit", async () => {
    const fixture = await start({ residentLimitMb: 200 });
    const bomb = `export default { name: "b", async run() { const all = []; for (;;) { all.push(new Uint8Array(2 ** 23).fill(1)); await new Promise((r) => setTimeout(r, 1)); } } }`;
    const execution = await fixture.run(bomb, { limits: { memoryMb: 1024 } });
    expect(errorOf(execution)).toMatchObject({ outcome: "limited", code: "memory_limit" });
    expect(execution).toMatchObject({ costProcess: true });
  });
});

describe("the growth of a child during the only run in it", () => {
  const mib = 2 ** 20;

  it("blames the run above its isolate's limit, or above half of the child's", () => {
    const growth = new SoleRunGrowth(400 * mib);
    growth.begin(1, 300 * mib, 64 * mib);
    expect(growth.culprit(364 * mib)).toBeUndefined();
    expect(growth.culprit(365 * mib)).toBe(1);
    growth.begin(2, 100 * mib, 1024 * mib);
    expect(growth.culprit(300 * mib)).toBeUndefined();
    expect(growth.culprit(301 * mib)).toBe(2);
  });

  it("blames no run when several are in flight", () => {
    const growth = new SoleRunGrowth(400 * mib);
    growth.begin(1, 0, 64 * mib);
    growth.end();
    expect(growth.culprit(500 * mib)).toBeUndefined();
  });
});
