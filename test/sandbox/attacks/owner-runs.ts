import { afterAll, beforeAll } from "vitest";
import type { Execution } from "../../../runner/sandbox/port.ts";
import { errorOf, requestFor, type SandboxFixture, startSandbox } from "../sandbox-fixture.ts";

export interface OwnerRuns {
  readonly fixture: SandboxFixture;
  /** Runs a component that waits for `event` ms and returns the number of its runs, or another one. */
  ran(owner: string, source: string, event?: string, text?: string): Promise<Execution>;
  /** The results of runs, or their errors. */
  counts(runs: readonly Promise<Execution>[]): Promise<unknown[]>;
}

const code = `let n = 0; export default { name: "o", async run(event) { n++; await new Promise((ok) => setTimeout(ok, event ?? 0)); return n; } }`;

/** Owners whose runs have processes of their own, at most two at once. */
export function openOwnerRuns(): OwnerRuns {
  let fixture: SandboxFixture;
  beforeAll(async () => {
    fixture = await startSandbox({ ownerProcesses: 2, timeLimits: { entryMs: 500, disposeMs: 250 } });
  });
  afterAll(() => fixture.stop());
  return {
    get fixture() {
      return fixture;
    },
    ran: async (owner, source, event = "0", text = code) => {
      const request = { owner, source, event, limits: { memoryMb: 64 } };
      return fixture.sandbox.execute(requestFor(await fixture.bundle(text), request));
    },
    counts: async (runs) => (await Promise.all(runs)).map((run) => (run.outcome === "returned" ? run.result : errorOf(run))),
  };
}
