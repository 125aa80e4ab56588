import { readdirSync, readFileSync } from "node:fs";
import { stop, transform } from "esbuild";
import { expect, it } from "vitest";
import { createEsbuildLane } from "../../../builder/bundle/esbuild-lane.ts";
import { until } from "../../support/until.ts";

/** Whether a process of esbuild is our child. */
function isRunning(): boolean {
  return readdirSync("/proc").some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      return stat.includes("(esbuild)") && Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === process.pid;
    } catch {
      return false; // It has ended in the meantime.
    }
  });
}

it.runIf(process.platform === "linux")("ends esbuild's idle process, and starts it again on demand", async () => {
  const lane = createEsbuildLane({ idleMs: 20 });
  await stop(); // An earlier file of this worker may have used it.
  await until(() => !isRunning(), "the end of an earlier process");
  for (const code of ["let a: number = 1", "let b: number = 2"]) {
    const { code: made } = await lane.run("", () => transform(code, { loader: "ts" }), 30_000);
    expect(made).toContain(code.replace(": number", ""));
    await until(() => !isRunning(), "the end of esbuild's process");
  }
});

it("keeps esbuild running while a build waits for its turn", async () => {
  const lane = createEsbuildLane({ idleMs: 1 });
  const made = await Promise.all(
    Array.from({ length: 50 }, (_, index) => lane.run("", () => transform(`let a${index}: number`, { loader: "ts" }), 30_000)),
  );
  expect(made.map(({ code }) => code)).toEqual(Array.from({ length: 50 }, (_, index) => `let a${index};\n`));
});

it("does not end esbuild's process while another lane uses it", async () => {
  const [idle, busy] = [createEsbuildLane({ idleMs: 1 }), createEsbuildLane()];
  const started = Promise.withResolvers<void>();
  const resumed = Promise.withResolvers<void>();
  const pending = busy.run(
    "",
    async () => {
      started.resolve();
      await resumed.promise;
      return transform("let a: number", { loader: "ts" });
    },
    30_000,
  );
  await started.promise;
  await idle.run("", () => transform("let b: number", { loader: "ts" }), 30_000);
  await idle.stop();
  expect(isRunning()).toBe(process.platform === "linux");
  resumed.resolve();
  expect((await pending).code).toBe("let a;\n");
  await busy.stop();
});
