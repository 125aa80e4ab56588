import type { Execution, Sandbox } from "./sandbox/port.ts";

export interface Metering {
  /** What the run cost this runner, ms. */
  readonly cost: (owner: string, costMs: number) => void;
  /** The run of this source waits for somebody else. */
  readonly paused: (source: string) => void;
  /** `returned`, `threw`, `crashed`, or the code of the limit that ended it. */
  readonly ended: (outcome: string, durationMs: number) => void;
}

/** What a run leaves passes through this process several times, at about so many bytes a millisecond. */
const bytesPerMs = 50_000;

/** The sandbox, with a look at what each execution took. */
export function metered(sandbox: Sandbox, { cost, paused, ended }: Metering): Sandbox {
  return {
    ...sandbox,
    execute: async (request, onResponse) => {
      const startedAt = performance.now();
      const execution = await sandbox.execute(request, onResponse, () => paused(request.source));
      cost(request.owner, costOf(execution, performance.now() - startedAt));
      ended(execution.outcome === "limited" ? (execution.error.code ?? "limited") : execution.outcome, performance.now() - startedAt);
      return execution;
    },
  };
}

/** A process that died kept a core busy, or filled the memory, for all that anybody knows. */
function costOf(execution: Execution, elapsedMs: number): number {
  if (execution.outcome === "crashed") return elapsedMs;
  const { cpuMs, emits, logs } = execution;
  const characters = emits.reduce((sum, { payload }) => sum + payload.length, 0) + logs.length * 100;
  return cpuMs + characters / bytesPerMs;
}
