import type { Execution, Sandbox } from "../sandbox/port.ts";

export interface ExecutionListener {
  /** An execution of the owner has cost this much, ms. */
  readonly onCost: (owner: string, costMs: number) => void;
  /** The run of this source waits for I/O. */
  readonly onPause: (source: string) => void;
  /** `outcome`: `returned`, `threw`, `crashed`, or the code of the limit that ended the execution. */
  readonly onEnd: (outcome: string, durationMs: number) => void;
}

/** Emits and logs of a run pass through this process several times, at about this rate. */
const bytesPerMs = 50_000;

/** A view of the sandbox that reports the cost of each execution. */
export function meterSandbox(sandbox: Sandbox, { onCost, onPause, onEnd }: ExecutionListener): Sandbox {
  return {
    ...sandbox,
    execute: (request, onResponse) => {
      const startedAt = performance.now();
      return sandbox
        .execute(request, onResponse, () => onPause(request.source))
        .then((execution) => {
          const durationMs = performance.now() - startedAt;
          onCost(request.owner, costOf(execution, durationMs));
          onEnd(execution.outcome === "limited" ? (execution.error.code ?? "limited") : execution.outcome, durationMs);
          return execution;
        });
    },
  };
}

/** A process that crashed may have used a core all the time. */
function costOf(execution: Execution, durationMs: number): number {
  if (execution.outcome === "crashed") return durationMs;
  let bytes = execution.logs.length * 100;
  for (const { payload } of execution.emits) bytes += payload.length;
  return execution.cpuMs + bytes / bytesPerMs;
}
