import { afterAll, beforeAll, expect, it } from "vitest";
import { type FilesFixture, startFilesSandbox } from "../file-steps.ts";
import { errorOf } from "../sandbox-fixture.ts";

let fixture: FilesFixture;
beforeAll(async () => {
  fixture = await startFilesSandbox();
});
afterAll(() => fixture.stop());

it("a hostile step stores no more than a run may have, however often it writes", async () => {
  const run = fixture.startRun();
  const body = `const block = Buffer.alloc(20 * 2 ** 20); let rounds = 0;
      try { for (;;) { block.fill(rounds); await fs.promises.writeFile("/tmp/f", block); rounds += 1; if (rounds > 200) return rounds; } }
      catch (error) { return [error.code, error.message]; }`;
  const execution = await run.step(body, { limits: { memoryMb: 96 } });
  // What it could still return is not stored either, so the step fails.
  expect(errorOf(execution)).toMatchObject({
    outcome: "threw",
    message: "ENOSPC: no space left on device, write: a step may store 512 MiB of files in all, also what it deletes or writes again",
  });
  expect(fixture.files.calls.length).toBeLessThanOrEqual(1_024);
});
