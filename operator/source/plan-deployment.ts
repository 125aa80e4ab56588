import type { Deployment } from "../../domain/deployment.ts";
import { isDisabled } from "../../domain/kills.ts";
import type { Hook, RunError } from "../../domain/invocation.ts";
import { nextHook, runHook } from "./hooks.ts";
import type { Observed } from "./observed.ts";
import { isDone } from "./settled.ts";
import type { Step } from "./step.ts";
import { failedHook } from "./update-failure.ts";
import { componentIdOf, keepVersion, setTimers, writeEndpoint, type Running, type Wanted } from "./desired.ts";

interface Reports {
  readonly ready: () => readonly Step[];
  readonly failed: (hook: Hook, error: RunError) => readonly Step[];
  readonly disabled: () => readonly Step[];
}

/** The entry is of this generation: run its hooks, start its timers, say so. A failure is that of a source that has no other version. */
export function planDeployment(observed: Observed, wanted: Wanted, report: Reports, now: number): readonly Step[] {
  const { source, deployed } = observed;
  if (deployed === undefined || isDone(observed)) return [];
  const failure = failedHook(observed, deployed);
  if (failure !== undefined)
    return [...suspend(observed, wanted, deployed), ...settledThen(source, report.failed(failure.hook, failure.error))];
  if (isDisabled(observed.kills, deployed.id)) return disable(observed, wanted, report.disabled());
  const hook = source.spec.active ? nextHook(observed, deployed) : undefined;
  if (hook !== undefined) return [runHook(observed, deployed, hook)];
  const { component } = wanted;
  const kept = {
    deployment: deployed,
    spec: source.spec,
    build: wanted.build,
    component: { name: component.metadata.name, id: componentIdOf(component) },
  };
  return [
    // The endpoint again: an operator that was killed between entry and endpoint is put right here.
    ...writeEndpoint(observed, wanted, source.spec.active),
    ...(source.spec.active ? setTimers(observed, wanted, deployed.generation) : []),
    keepVersion(kept, now), // Before settling: a failed update then returns to this one, whose secrets stay.
    ...settledThen(source, report.ready()),
  ];
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

/**
 * Its runners do not run it. The entry stays as it is: what waits for the source is answered with an error, and not dropped.
 */
export function disable(observed: Observed, running: Running, report: readonly Step[]): readonly Step[] {
  const { standing } = observed;
  if (report.length === 0) return [];
  return [
    { do: "end-timers", source: running.id },
    ...writeEndpoint(observed, running, false),
    ...(standing === undefined ? [] : [keepVersion({ ...standing.version, disabled: true }, standing.version.deployedAt)]),
    ...report,
  ];
}

/** A source whose first deployment failed does not run until it is changed. */
function suspend(observed: Observed, wanted: Wanted, deployed: Deployment): readonly Step[] {
  if (!deployed.active) return [];
  return [
    { do: "end-timers", source: wanted.id },
    { do: "write-deployment", deployment: { ...deployed, active: false }, secrets: "as they are" },
    ...writeEndpoint(observed, wanted, false),
  ];
}
