import type { Deployment } from "../../domain/deployment.ts";
import { isDisabled } from "../../domain/kills.ts";
import type { Hook, RunError } from "../../domain/invocation.ts";
import { deployHookNeeded, hookError, hookNeeded, runHook } from "./hooks.ts";
import type { Observed } from "./observed.ts";
import { isDone } from "./settled.ts";
import type { Step } from "./step.ts";
import { setTimers, writeEndpoint, type Wanted } from "./wanted.ts";

interface Reports {
  readonly ready: () => readonly Step[];
  readonly failed: (hook: Hook, error: RunError) => readonly Step[];
  readonly disabled: () => readonly Step[];
}

/** The entry is of this generation: run its hooks, start its timers, say so. */
export function planDeployment(observed: Observed, wanted: Wanted, report: Reports): readonly Step[] {
  const { source, deployed } = observed;
  if (deployed === undefined || isDone(observed)) return [];
  const failure = failedHook(observed, deployed);
  if (failure !== undefined)
    return [...suspend(observed, wanted, deployed), ...settledThen(source, report.failed(failure.hook, failure.error))];
  if (isDisabled(observed.kills, deployed.id)) return disable(observed, wanted, report.disabled());
  if (!source.spec.active) return [...writeEndpoint(observed, wanted, false), ...settledThen(source, report.ready())];
  if (deployHookNeeded(observed, deployed)) return [runHook(observed, deployed, "deploy")];
  if (hookNeeded(observed, "activate", deployed, 1)) return [runHook(observed, deployed, "activate")];
  // The endpoint again: whoever was killed between entry and endpoint is put right here.
  const timers = setTimers(observed, wanted, deployed.generation);
  return [...writeEndpoint(observed, wanted, true), ...timers, ...settledThen(source, report.ready())];
}

/**
 * Whoever changed the source may have died between that and settling. Once this generation is deployed nobody reads what older ones
 * referred to. A first generation without secrets has nothing to settle, and most sources have no other.
 */
function settledThen({ metadata: { generation }, spec }: Observed["source"], report: readonly Step[]): readonly Step[] {
  const references = Object.values(spec.secrets);
  if (report.length === 0 || (references.length === 0 && generation === 1)) return report;
  return [{ do: "settle-secrets", generation, references }, ...report];
}

function failedHook(observed: Observed, deployed: Deployment): { hook: Hook; error: RunError } | undefined {
  for (const hook of ["deploy", "activate"] as const) {
    const error = hookError(observed, hook, deployed);
    if (error !== undefined) return { hook, error };
  }
  return undefined;
}

/** Its runners do not run it. The entry stays as it is: what waits for the source is answered with an error, and not dropped. */
function disable(observed: Observed, wanted: Wanted, report: readonly Step[]): readonly Step[] {
  if (report.length === 0) return [];
  return [{ do: "end-timers", source: wanted.id }, ...writeEndpoint(observed, wanted, false), ...report];
}

/** A source whose hook failed does not run until it is changed. */
function suspend(observed: Observed, wanted: Wanted, deployed: Deployment): readonly Step[] {
  if (!deployed.active) return [];
  return [
    { do: "end-timers", source: wanted.id },
    { do: "write-deployment", deployment: { ...deployed, active: false }, secrets: "as they are" },
    ...writeEndpoint(observed, wanted, false),
  ];
}
