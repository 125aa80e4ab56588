import { describe, expect, test } from "vitest";
import { failure, options, withConfigureWorld } from "./configure-world.ts";

const { save, ask, wakeRunner } = withConfigureWorld();

describe("an owner whose calls kill their process", () => {
  test("is refused a fourth call within ten minutes, with the time until which calls are refused", async () => {
    await wakeRunner();
    const killer = await save(
      `export default { name: "c", props: { all: { type: "string", options() { const a = []; a.length = 2 ** 32 - 1; a.fill(0); return a; } } }, run() {} }`,
    );
    const harmless = await save(`export default { name: "c", props: { one: { type: "string", options() { return ["1"]; } } }, run() {} }`);
    for (let call = 0; call < 3; call++) {
      const [status, code] = await failure(ask(killer, options("all")));
      expect([status, code], `call ${call}`).toEqual([422, expect.stringMatching(/^(run_timeout|cpu_limit|runner_crash|memory_limit)$/)]);
    }
    expect(await failure(ask(harmless, options("one")))).toEqual([
      429,
      "too_many_kills",
      expect.stringMatching(/^3 calls of options or additionalProps, or dry runs, .*: no more are made until 20\d\d-.*Z/),
    ]);
  });
});
