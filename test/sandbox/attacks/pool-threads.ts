import { describe, expect, it } from "vitest";
import type { Execution } from "../../../runner/sandbox/port.ts";
import { ended, requestFor } from "../sandbox-fixture.ts";
import type { AttackRange } from "./attack-range.ts";

/** Sources of one owner that would occupy all threads of the pool, beside a source of another owner that needs two of them. */
export function testPoolThreads(range: AttackRange, attacks: readonly (readonly [name: string, body: string])[]): void {
  /** Another owner's source, which needs two of them: one to compress, one for a name. */
  const neighbour = async (): Promise<Execution> => {
    const bundle = await range.fixture.bundle(
      `import zlib from "node:zlib"; import dns from "node:dns"; export default { name: "n", async run() { await new Promise((ok) => zlib.gzip("x", ok)); await dns.promises.lookup("localhost"); return "served"; } }`,
    );
    return range.fixture.sandbox.execute(requestFor(bundle, { source: "dc_pool", owner: "u_pool", limits: { memoryMb: 64 } }));
  };

  describe("the threads of the pool", () => {
    it.each(attacks)("are not taken by one owner, however many sources he has: %s", async (_, body) => {
      const hostile = Array.from({ length: 4 }, (__, index) =>
        range.attack(`${body} await new Promise((ok) => setTimeout(ok, 300)); return 1;`, {
          owner: "u_greedy",
          source: `dc_greedy${index}`,
          limits: { timeoutMs: 2_000, memoryMb: 64 },
        }),
      );
      expect(await neighbour()).toMatchObject({ outcome: "returned", result: `"served"` });
      for (const execution of await Promise.all(hostile)) ended(execution);
      expect(await neighbour()).toMatchObject({ outcome: "returned", result: `"served"` });
    });
  });
}
