import type { Clock } from "../../domain/clock.ts";
import { killsThatDisable, killWindowMs, refusedError } from "../../domain/run/kills.ts";
import { refusal } from "./run.ts";
import type { Sandbox } from "../sandbox/port.ts";

/**
 * The sandbox for calls of components that are being configured, and for dry runs. They have no history that counts which of them cost
 * their process (`domain/run/kills.ts`), so this runner counts them by owner: after the third within the window it refuses the owner's calls
 * until the first of the three is older than the window.
 */
export function withoutKillers(sandbox: Sandbox, clock: Clock): Sandbox {
  /** Epoch ms, oldest first. */
  const kills = new Map<string, readonly number[]>();
  const recentOf = (owner: string, now: number): readonly number[] => {
    for (const [other, at] of kills) if (now - (at.at(-1) ?? 0) >= killWindowMs) kills.delete(other);
    return (kills.get(owner) ?? []).filter((at) => now - at < killWindowMs);
  };
  return {
    ...sandbox,
    execute: async (request, onResponse) => {
      const { owner } = request;
      const recent = recentOf(owner, clock.now());
      const [oldest = 0] = recent.slice(-killsThatDisable);
      if (recent.length >= killsThatDisable) return refusal(refusedError(oldest + killWindowMs));
      const execution = await sandbox.execute(request, onResponse);
      if ((execution.outcome === "limited" || execution.outcome === "crashed") && execution.costProcess === true)
        kills.set(owner, [...recentOf(owner, clock.now()), clock.now()].slice(-killsThatDisable));
      return execution;
    },
  };
}
