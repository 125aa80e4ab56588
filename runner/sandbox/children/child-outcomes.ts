import { Unavailable } from "../../../domain/errors.ts";
import type { Execution, Inspection } from "../port.ts";
import { limitError } from "../isolate/run-error.ts";

/** What in-flight work gets when its child dies. */
export interface ChildDeath {
  readonly message: string;
  /** Whether the child was killed because of its memory. Who filled it is known by measurement only. */
  readonly isMemoryKill: boolean;
  /** Executions and inspections in flight. */
  readonly inFlight: number;
}

/** Nothing ran in the child, so nothing is known about the work: it can be repeated. */
export function startError(reason: string): Unavailable {
  return new Unavailable(`a sandbox child could not be started: ${reason}`, { code: "sandbox_unavailable" });
}

export function crashedExecution({ message, isMemoryKill, inFlight }: ChildDeath): Execution {
  return { outcome: "crashed", message, costProcess: inFlight === 1 && !isMemoryKill };
}

export function crashedInspection({ message }: ChildDeath): Inspection {
  return { outcome: "rejected", code: "crashed", message: `evaluating the component failed: ${message}` };
}

/** The execution whose growth was measured. */
export function endedByMemory({ message }: ChildDeath): Execution {
  const error = limitError("memory_limit", `the run was ended: ${message}`);
  return { outcome: "limited", costProcess: true, error, emits: [], logs: [], db: {}, response: null, durationMs: 0, cpuMs: 0 };
}
