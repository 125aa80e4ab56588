import { cp, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { retry } from "../../domain/retry.ts";
import { buildPrograms } from "../../runner/sandbox/children/child-script.ts";
import { buildGuestScripts } from "../../runner/sandbox/isolate/guest-scripts.ts";
import type { Execution } from "../../runner/sandbox/port.ts";
import { sandboxPids } from "./processes.ts";
import { until } from "../support/until.ts";
import { cacheDirectory as built, patientMs, type SandboxFixture, startSandbox } from "./sandbox-fixture.ts";

export const answer = `export default { name: "c", run: () => 42 }`;
export const returned = { outcome: "returned", result: "42" };

/** A folder of its own with copies of the programs of children, so that a test can take them away. */
export function openCache(): { readonly cacheDirectory: string } {
  let cacheDirectory: string;
  beforeAll(async () => {
    cacheDirectory = await mkdtemp(join(tmpdir(), "headwater-start-failures-"));
    const [{ child }, { webPath }] = await Promise.all([buildPrograms(built), buildGuestScripts(built)]);
    for (const directory of [dirname(child), dirname(webPath)])
      await cp(directory, join(cacheDirectory, basename(directory)), { recursive: true });
  });
  afterAll(() => rm(cacheDirectory, { recursive: true }));
  return {
    get cacheDirectory() {
      return cacheDirectory;
    },
  };
}

/** Makes it impossible to start children until the returned function is called. */
type Obstruct = (cacheDirectory: string) => Promise<() => Promise<void>>;

export const obstacles: readonly (readonly [name: string, Obstruct])[] = [
  [
    "the child's program is missing",
    async (cacheDirectory) => {
      const directory = (await readdir(cacheDirectory)).find((name) => name.startsWith("child-")) ?? "";
      const program = join(cacheDirectory, directory, "sandbox-child.mjs");
      await rename(program, `${program}.away`);
      return () => rename(`${program}.away`, program);
    },
  ],
  ["the executable does not exist", () => withExecutable("/nonexistent/node")],
  ["fork throws", () => withExecutable("/etc/hostname/node")],
];

export async function withExecutable(path: string): Promise<() => Promise<void>> {
  const { execPath } = process;
  process.execPath = path;
  return async () => {
    process.execPath = execPath;
  };
}

/** Runs until it can run something, as a runner to which NATS redelivers the invocation. */
const runRedelivered = (fixture: SandboxFixture): Promise<Execution> =>
  retry(() => fixture.run(answer), { firstMs: 100, withinMs: 120_000 });

export interface StartFailure {
  readonly name: string;
  readonly mode: string;
  readonly options: Parameters<typeof startSandbox>[0];
  readonly obstruct: Obstruct;
}

/** With which options children cannot be started. */
export const modes = [
  { mode: "shared children", options: { children: 1 } },
  { mode: "a child for each owner", options: { ownerProcesses: 2 } },
] as const;

export function testStartFailures(failures: readonly StartFailure[], cache: { readonly cacheDirectory: string }): void {
  describe("when no child can be started", () => {
    it.each(failures)("refuses runs as not started, reports why, and recovers: $name, with $mode", async ({ options, obstruct }) => {
      const fixture = await startSandbox({ cacheDirectory: cache.cacheDirectory, ...options });
      try {
        expect(await fixture.run(answer)).toMatchObject(returned);
        expect(fixture.sandbox.stats().startFailure).toBeUndefined();

        const restore = await obstruct(cache.cacheDirectory);
        try {
          for (const pid of sandboxPids()) process.kill(pid, "SIGKILL");
          await until(() => fixture.sandbox.stats().startFailure !== undefined, "a failed start");
          const refused = { code: "sandbox_unavailable", status: 503 };
          await expect(fixture.run(answer)).rejects.toMatchObject(refused);
          await expect(fixture.run(answer, { alone: true })).rejects.toMatchObject(refused);
          const bundle = await fixture.bundle(answer);
          await expect(fixture.sandbox.inspect({ bundle, timeoutMs: patientMs })).rejects.toMatchObject(refused);
          const { startFailures } = fixture.sandbox.stats();
          await until(() => fixture.sandbox.stats().startFailures > startFailures, "another attempt");
        } finally {
          await restore();
        }
        expect(await runRedelivered(fixture)).toMatchObject(returned);
        await until(() => fixture.sandbox.stats().startFailure === undefined, "the end of the failure");
      } finally {
        await fixture.stop();
      }
    });
  });
}
