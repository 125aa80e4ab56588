import { afterEach } from "vitest";
import type { Execution } from "../../runner/sandbox/port.ts";
import { until } from "../support/until.ts";
import { requestFor, type SandboxFixture, type SandboxRequest, startSandbox } from "./sandbox-fixture.ts";

/** Returns a function that starts a sandbox, which is stopped when the test ends. */
export function openFixtures(): typeof startSandbox {
  const fixtures: SandboxFixture[] = [];
  afterEach(async () => {
    await Promise.all(fixtures.splice(0).map((fixture) => fixture.stop()));
  });
  return async (options) => {
    const fixture = await startSandbox(options);
    fixtures.push(fixture);
    return fixture;
  };
}

export const answer = `export default { name: "c", run: () => 42 }`;
export const endless = `export default { name: "c", props: { http: "$.interface.http" }, async run() { this.http.respond({ status: 200 }); for (;;) await new Promise((r) => setTimeout(r, 10)); } }`;

/** Runs `endless` and resolves once it has begun. */
export async function begin(
  fixture: SandboxFixture,
  request: SandboxRequest = {},
): Promise<{ readonly running: Promise<Execution>; begun(): Promise<void> }> {
  let begins = 0;
  let seen = 0;
  const running = fixture.sandbox.execute(requestFor(await fixture.bundle(endless), request), () => void (begins += 1));
  const begun = async (): Promise<void> => {
    seen += 1;
    await until(() => begins === seen, "the run to begin");
  };
  await begun();
  return { running, begun };
}

export const killAll = (pids: readonly number[]): void => {
  for (const pid of pids) process.kill(pid, "SIGKILL");
};
