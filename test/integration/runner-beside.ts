import { systemClock } from "../../domain/clock.ts";
import type { RunnerPorts } from "../../runner/ports.ts";
import type { ExecuteRequest } from "../../runner/sandbox/port.ts";

type Beside = Pick<RunnerPorts, "sandbox" | "bundles" | "stacks" | "secrets" | "clock" | "randomId">;

/** The runner's ports beside its pool, where user code is a function of the test and nothing is sealed. */
export function portsBesidePool(execute: (request: ExecuteRequest) => Promise<unknown>): Beside {
  return {
    // Only the methods that the runner calls.
    sandbox: { execute, evict: () => undefined, stats: () => ({}), stop: () => Promise.resolve() } as unknown as RunnerPorts["sandbox"],
    bundles: { path: () => Promise.resolve("/nowhere") },
    stacks: { map: (_bundle, stack) => Promise.resolve(stack) },
    secrets: { open: (sealed) => Promise.resolve(sealed) },
    clock: systemClock,
    randomId: () => Math.random().toString(36).slice(2),
  };
}
