import type { Clock } from "../../domain/clock.ts";
import { callsRefusedError, killsThatDisable, killWindowMs } from "../../domain/run/kills.ts";
import type { Sandbox } from "../sandbox/port.ts";
import { notExecuted } from "./execute.ts";

/**
 * A view of the sandbox for `configure` calls and dry runs. They leave no commit that could count how often they killed their process, so
 * this counts it in memory, by owner. After three kills within the window it refuses the owner's calls, until the first kill is older than
 * the window.
 */
export function limitKills(sandbox: Sandbox, clock: Clock): Sandbox {
  /** Owner → times of kills, epoch ms, oldest first. */
  const kills = new Map<string, readonly number[]>();
  const recentOf = (owner: string, now: number): readonly number[] => {
    for (const [other, times] of kills) if (now - (times.at(-1) ?? 0) >= killWindowMs) kills.delete(other);
    return (kills.get(owner) ?? []).filter((time) => now - time < killWindowMs);
  };
  return {
    ...sandbox,
    execute: async (request, onResponse) => {
      const { owner } = request;
      const recent = recentOf(owner, clock.now());
      const [oldest = 0] = recent.slice(-killsThatDisable);
      if (recent.length >= killsThatDisable) return notExecuted(callsRefusedError(oldest + killWindowMs));
      const execution = await sandbox.execute(request, onResponse);
      if ((execution.outcome === "limited" || execution.outcome === "crashed") && execution.costProcess === true)
        kills.set(owner, [...recentOf(owner, clock.now()), clock.now()].slice(-killsThatDisable));
      return execution;
    },
  };
}
