import type { Deployment } from "../../../domain/source/deployment.ts";
import { isDisabled } from "../../../domain/run/kills.ts";
import type { RunError } from "../../../domain/run-products.ts";
import type { Hook } from "../../../domain/trigger.ts";
import { nextHook, runHook } from "./hooks.ts";
import type { Observed } from "../observe/observed.ts";
import { isDone } from "../observe/settled.ts";
import type { Step } from "./step.ts";
import { failedHook } from "./update-failure.ts";
import { componentIdOf, keepVersion, setTimers, writeEndpoint, type Running, type Desired } from "./desired.ts";

interface Reports {
  readonly ready: () => readonly Step[];
  readonly failed: (hook: Hook, error: RunError) => readonly Step[];
  readonly disabled: () => readonly Step[];
}

/**
 * The entry matches the generation: run its hooks, start its timers, report. A failure here is that of a source without another version.
 */
export function planDeployment(observed: Observed, desired: Desired, report: Reports, now: number): readonly Step[] {
  const { source, deployed } = observed;
  if (deployed === undefined || isDone(observed)) return [];
  const failure = failedHook(observed, deployed);
  if (failure !== undefined)
    return [...suspend(observed, desired, deployed), ...settleThen(source, report.failed(failure.hook, failure.error))];
  if (isDisabled(observed.kills, deployed.id)) return disable(observed, desired, report.disabled());
  const hook = source.spec.active ? nextHook(observed, deployed) : undefined;
  if (hook !== undefined) return [runHook(observed, deployed, hook)];
  const { component } = desired;
  const kept = {
    deployment: deployed,
    spec: source.spec,
    build: desired.build,
    component: { name: component.metadata.name, id: componentIdOf(component) },
  };
  return [
    // Repeat the endpoint: the operator may have crashed between writing the entry and the endpoint.
    ...writeEndpoint(observed, desired, source.spec.active),
    ...(source.spec.active ? setTimers(observed, desired, deployed.generation) : []),
    keepVersion(kept, now), // Before settling: a failed update then returns to this version, whose secrets stay.
    ...settleThen(source, report.ready()),
  ];
}

/**
 * Once this generation is deployed, references of older ones are unused. A first generation without secrets, as most are, has nothing to
 * settle.
 */
function settleThen({ metadata: { generation }, spec }: Observed["source"], report: readonly Step[]): readonly Step[] {
  const references = Object.values(spec.secrets);
  if (report.length === 0 || (references.length === 0 && generation === 1)) return report;
  return [{ do: "settle-secrets", references }, ...report];
}

/** Runners refuse to run this source. The entry stays: queued invocations fail with an error instead of being dropped. */
export function disable(observed: Observed, running: Running, report: readonly Step[]): readonly Step[] {
  const { fallback } = observed;
  if (report.length === 0) return [];
  return [
    { do: "end-timers" },
    ...writeEndpoint(observed, running, false),
    ...(fallback === undefined ? [] : [keepVersion({ ...fallback.version, disabled: true }, fallback.version.deployedAt)]),
    ...report,
  ];
}

/** A source whose first deployment failed does not run until it is changed. */
function suspend(observed: Observed, desired: Desired, deployed: Deployment): readonly Step[] {
  if (!deployed.active) return [];
  return [
    { do: "end-timers" },
    { do: "write-deployment", deployment: { ...deployed, active: false }, secrets: "as they are" },
    ...writeEndpoint(observed, desired, false),
  ];
}
