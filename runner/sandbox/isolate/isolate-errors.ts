import type { RunError } from "../../../domain/run-products.ts";
import type { ActivityKind } from "./activity.ts";
import { limitError } from "./run-error.ts";

/** The parts of a host error that the guest may see: no stack, no path. */
export function toGuestError(error: unknown): {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
} {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const { code } = error as { code?: unknown };
  return { name: error.name, message: error.message, ...(typeof code === "string" && { code }) };
}

const names: Readonly<Record<ActivityKind, { readonly what: string; readonly timeout: string }>> = {
  load: { what: "evaluating the component", timeout: "evaluation_timeout" },
  describe: { what: "evaluating the component", timeout: "evaluation_timeout" },
  run: { what: "the run", timeout: "run_timeout" },
  configure: { what: "the call", timeout: "configure_timeout" },
};

export function timeoutError(kind: ActivityKind, timeoutMs: number): RunError {
  const { what, timeout } = names[kind];
  return limitError(timeout, `${what} took longer than ${Math.round(timeoutMs)} ms, its time limit`);
}

export function entryError(entryMs: number): RunError {
  return limitError("cpu_limit", `the code computed for ${entryMs} ms without a pause, the limit`);
}

export function stalledError(kind: ActivityKind): RunError {
  return kind === "run" || kind === "configure"
    ? limitError(
        "run_stalled",
        `${names[kind].what} waits for a promise that nothing can settle any more: no timer, request or connection is left`,
      )
    : limitError(
        "evaluation_timeout",
        "the module waits at its top level (await) for something that never ends: no timer, request or connection is left",
      );
}

export function memoryError(memoryMb: number): RunError {
  return limitError("memory_limit", `the run needed more than ${memoryMb} MB of memory`);
}

/** The limit of isolated-vm that an entry met, by its message; undefined for an error of the code itself. */
export function limitOf(error: unknown): "memory" | "time" | undefined {
  const message = error instanceof Error ? error.message : "";
  if (message.includes("memory limit")) return "memory";
  return message === "Script execution timed out." ? "time" : undefined;
}
