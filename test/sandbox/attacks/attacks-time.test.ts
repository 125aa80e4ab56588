import { describe, expect, it } from "vitest";
import { sandboxPids, until } from "../processes.ts";
import { ended, errorOf } from "../sandbox-fixture.ts";
import { openRange } from "./attack-range.ts";

/** Each is reached by computing, however slow the machine is, and not by anything that comes before. */
const timeLimits = { entryMs: 500, loadMs: 1_000, cpuMs: 500, disposeMs: 250 };
const range = openRange({ timeLimits });

describe("time", () => {
  it.each([
    ["a loop", `for (;;);`],
    ["a regular expression", `/(a+)+$/.test("a".repeat(40) + "b");`],
    ["microtasks without end", `const f = () => Promise.resolve().then(f); await f();`],
    ["an await loop", `for (;;) await null;`],
    ["a loop in a timer", `await new Promise(() => setTimeout(() => { for (;;); }, 1));`],
    ["a loop in toJSON", `this.$emit({ toJSON() { for (;;); } });`],
    ["a loop in a getter of what is thrown", `throw { get message() { for (;;); } };`],
    ["a loop in a proxy", `this.http.respond(new Proxy({}, { get() { for (;;); } }));`],
    ["intervals", `for (let i = 0; i < 100; i++) setInterval(() => {}, 1); await new Promise(() => {});`],
    ["immediates", `const f = () => setImmediate(f); f(); await new Promise(() => {});`],
    ["calls of the host", `for (;;) crypto.getRandomValues(new Uint8Array(1)), await null;`],
  ])("is limited for %s", async (_, body) => {
    expect(errorOf(await range.attack(body))).toMatchObject({
      outcome: "limited",
      code: expect.stringMatching(/cpu_limit|bridge_limit|memory_limit/) as string, // Whichever comes first: promises that wait for one another take memory.
    });
  });

  it("is limited at the top level of a module", async () => {
    expect(errorOf(await range.fixture.run(`for (;;); export default {}`))).toMatchObject({ outcome: "limited" });
  });

  it("of the CPU is limited over the whole run, with or without pauses", async () => {
    const execution = await range.attack(
      `for (;;) { const end = Date.now() + 50; while (Date.now() < end); await new Promise((r) => setTimeout(r, 1)); }`,
    );
    const message = `the run used more than ${timeLimits.cpuMs} ms of CPU time, the limit`;
    expect(errorOf(execution)).toMatchObject({ outcome: "limited", code: "cpu_limit", message });
    expect(ended(execution).cpuMs).toBeGreaterThan(timeLimits.cpuMs);
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
