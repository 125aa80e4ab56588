import type { Clock } from "../../domain/clock.ts";
import { callsRefusedError, killsThatDisable, killWindowMs, workflowRefusedError } from "../../domain/run/kills.ts";
import type { RunError } from "../../domain/run-products.ts";
import type { ExecuteRequest, Sandbox } from "../sandbox/port.ts";
import { notExecuted } from "./execute.ts";

export interface KillLimit {
  /** Whose kills are counted together. */
  readonly keyOf: (request: ExecuteRequest) => string;
  /** The result of a refused execution. @param until epoch ms */
  readonly refuse: (request: ExecuteRequest, until: number) => RunError;
}

/** For `configure` calls and dry runs: by owner. */
export const killsOfCalls: KillLimit = { keyOf: ({ owner }) => owner, refuse: (_request, until) => callsRefusedError(until) };

/** For steps of workflows: by workflow, with which the names of their isolates begin. */
export const killsOfWorkflows: KillLimit = {
  keyOf: workflowOf,
  refuse: (request, until) => workflowRefusedError(workflowOf(request), until),
};

function workflowOf({ source }: ExecuteRequest): string {
  return source.split("/", 1)[0] ?? source;
}

/**
 * A view of the sandbox for executions whose commits do not count how often they killed their process. This counts it in memory. After a
 * kill, executions with the same key run alone. After three kills within the window they are refused, until the first kill is older than
 * the window.
 */
export function limitKills(sandbox: Sandbox, clock: Clock, { keyOf, refuse }: KillLimit): Sandbox {
  /** Key → times of kills, epoch ms, oldest first. */
  const kills = new Map<string, readonly number[]>();
  const recentOf = (key: string, now: number): readonly number[] => {
    for (const [other, times] of kills) if (now - (times.at(-1) ?? 0) >= killWindowMs) kills.delete(other);
    return (kills.get(key) ?? []).filter((time) => now - time < killWindowMs);
  };
  return {
    ...sandbox,
    execute: async (request, onResponse) => {
      const key = keyOf(request);
      const recent = recentOf(key, clock.now());
      const [oldest = 0] = recent.slice(-killsThatDisable);
      if (recent.length >= killsThatDisable) return notExecuted(refuse(request, oldest + killWindowMs));
      const execution = await sandbox.execute(recent.length === 0 ? request : { ...request, alone: true }, onResponse);
      if ((execution.outcome === "limited" || execution.outcome === "crashed") && execution.costProcess === true)
        kills.set(key, [...recentOf(key, clock.now()), clock.now()].slice(-killsThatDisable));
      return execution;
    },
  };
}
