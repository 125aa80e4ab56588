import { describe, expect, it } from "vitest";
import { sandboxPids } from "../processes.ts";
import { until } from "../../support/until.ts";
import { ended, errorOf } from "../sandbox-fixture.ts";
import { openRange } from "./attack-range.ts";
import { endless, smallLimits, testEndless } from "./endless.ts";

const range = openRange({ timeLimits: smallLimits });

testEndless(range, endless);

describe("time", () => {
  it("is limited at the top level of a module", async () => {
    expect(errorOf(await range.fixture.run(`for (;;); export default {}`))).toMatchObject({ outcome: "limited" });
  });

  it("of the CPU is limited over the whole run, with or without pauses", async () => {
    const execution = await range.attack(
      `for (;;) { const end = Date.now() + 50; while (Date.now() < end); await new Promise((r) => setTimeout(r, 1)); }`,
    );
    const message = `the run used more than ${smallLimits.cpuMs} ms of CPU time, the limit`;
    expect(errorOf(execution)).toMatchObject({ outcome: "limited", code: "cpu_limit", message });
    expect(ended(execution).cpuMs).toBeGreaterThan(smallLimits.cpuMs);
  });

  it("after the run is unavailable: finalization callbacks never run", async () => {
    const body = `let called = false; globalThis.r = new FinalizationRegistry(() => { for (;;); }); for (let i = 0; i < 1000; i++) globalThis.r.register({}, 1); return 1;`;
    expect(await range.attack(body)).toMatchObject({ outcome: "returned" });
  });
});

describe("operations that V8 cannot interrupt", () => {
  it("is ended with its process: multiplying huge integers", async () => {
    const before = sandboxPids();
    const execution = await range.attack(`const a = (1n << 200000000n) - 1n; return String(a * a).length;`);
    expect(errorOf(execution)).toMatchObject({ outcome: "limited" });
    await until(() => before.some((pid) => !sandboxPids().includes(pid)), "the end of the process");
  });
});
