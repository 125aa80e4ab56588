import { describe, expect, it } from "vitest";
import { errorOf } from "../sandbox-fixture.ts";
import type { AttackRange } from "./attack-range.ts";

/** Each is reached by computing, however slow the machine is, and not by anything that comes before. */
export const smallLimits = { entryMs: 500, loadMs: 1_000, cpuMs: 500, disposeMs: 250 };

/** What it is, and the body of a `run` that computes without end. */
type Endless = readonly [what: string, body: string];

export const endless: readonly Endless[] = [
  ["a loop", `for (;;);`],
  ["a regular expression", `/(a+)+$/.test("a".repeat(40) + "b");`],
  ["microtasks without end", `const f = () => Promise.resolve().then(f); await f();`],
  ["a loop in a timer", `await new Promise(() => setTimeout(() => { for (;;); }, 1));`],
  ["a loop in a getter of what is thrown", `throw { get message() { for (;;); } };`],
  ["intervals", `for (let i = 0; i < 100; i++) setInterval(() => {}, 1); await new Promise(() => {});`],
];

export const moreEndless: readonly Endless[] = [
  ["an await loop", `for (;;) await null;`],
  ["a loop in toJSON", `this.$emit({ toJSON() { for (;;); } });`],
  ["a loop in a proxy", `this.http.respond(new Proxy({}, { get() { for (;;); } }));`],
  ["immediates", `const f = () => setImmediate(f); f(); await new Promise(() => {});`],
  ["calls of the host", `for (;;) crypto.getRandomValues(new Uint8Array(1)), await null;`],
  [
    "decompression on the host's threads",
    `const zlib = __builtin("zlib"); const b = zlib.gzipSync(Buffer.alloc(15e6)); for (;;) zlib.gunzipSync(b);`,
  ],
];

export function testEndless(range: AttackRange, attacks: readonly Endless[]): void {
  describe("time", () => {
    it.each(attacks)("is limited for %s", async (_, body) => {
      expect(errorOf(await range.attack(body))).toMatchObject({
        outcome: "limited",
        code: expect.stringMatching(/cpu_limit|bridge_limit|memory_limit/) as string, // Whichever comes first: promises that wait for one another take memory.
      });
    });
  });
}
