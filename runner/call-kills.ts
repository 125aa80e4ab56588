import type { Clock } from "../domain/clock.ts";
import { killsThatDisable, killWindowMs, refusedError } from "../domain/kills.ts";
import { refusal } from "./run.ts";
import type { Sandbox } from "./sandbox/port.ts";

/**
 * The sandbox for calls that somebody makes while configuring, and for dry runs. They have no history that could remember whose cost the
 * process they ran in (`domain/kills.ts`), so this runner does, by owner: after the first such call an owner's are made alone, after the
 * third within the window none is made until the first of these is forgotten.
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
      const execution = await sandbox.execute({ ...request, alone: request.alone === true || recent.length > 0 }, onResponse);
      // One that only crashed may have been a neighbour's victim: it is made once more, alone, and then it is known.
      if (execution.outcome === "limited" && execution.costProcess === true)
        kills.set(owner, [...recentOf(owner, clock.now()), clock.now()].slice(-killsThatDisable));
      return execution;
    },
  };
}
