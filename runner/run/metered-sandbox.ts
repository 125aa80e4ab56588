import type { Execution, Sandbox } from "../sandbox/port.ts";

export interface Metering {
  /** What an execution has cost, ms. */
  readonly cost: (owner: string, costMs: number) => void;
  /** The run of this source waits for I/O. */
  readonly waitsForIo: (source: string) => void;
  /** `outcome`: `returned`, `threw`, `crashed`, or the code of the limit that ended it. */
  readonly ended: (outcome: string, durationMs: number) => void;
}

/** What a run leaves passes through this process several times, at about this rate. */
const bytesPerMs = 50_000;

/** The sandbox, with a report of what each execution cost. */
export function metered(sandbox: Sandbox, { cost, waitsForIo, ended }: Metering): Sandbox {
  return {
    ...sandbox,
    execute: (request, onResponse) => {
      const startedAt = performance.now();
      return sandbox
        .execute(request, onResponse, () => waitsForIo(request.source))
        .then((execution) => {
          const durationMs = performance.now() - startedAt;
          cost(request.owner, costOf(execution, durationMs));
          ended(execution.outcome === "limited" ? (execution.error.code ?? "limited") : execution.outcome, durationMs);
          return execution;
        });
    },
  };
}

/** A process that died may have used a core all the time. */
function costOf(execution: Execution, durationMs: number): number {
  if (execution.outcome === "crashed") return durationMs;
  let bytes = execution.logs.length * 100;
  for (const { payload } of execution.emits) bytes += payload.length;
  return execution.cpuMs + bytes / bytesPerMs;
}
