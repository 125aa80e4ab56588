import type { SourceResource } from "../../../crds/source.ts";
import type { ComponentResource } from "../../../crds/component.ts";
import type { Build } from "../../../domain/component/definition.ts";
import type { Deployment } from "../../../domain/source/deployment.ts";
import { idOfResourceName } from "../../../domain/ids.ts";
import { runtimeProps } from "../../../domain/component/prop-values.ts";
import { nextTickOf, timersOf } from "../../../domain/source/source-timers.ts";
import { boundProps } from "../../../domain/component/configure.ts";
import type { Observed, Fallback } from "../observe/observed.ts";
import type { Hook } from "../../../domain/trigger.ts";
import { startHooks } from "./hooks.ts";
import type { PlanInputs } from "./step.ts";
import type { SecretProps } from "../../versions.ts";
import { secretPropsOf } from "../../configured/secret-props.ts";
import { wasReady } from "../observe/settled.ts";
import type { Step } from "./step.ts";
import { withoutCode, type SourceVersion } from "../../versions.ts";

/** The requested version, with everything the plan has checked. */
export interface Desired {
  readonly id: string;
  readonly owner: string;
  readonly component: ComponentResource;
  readonly build: Build;
}

/** The version that entries, endpoints and timers are made from: the requested or the last deployed one. */
export type Running = Pick<Desired, "id" | "owner" | "build">;

/** The deployment entry, without its secrets. */
export function desiredDeployment(observed: Observed, desired: Desired, inputs: PlanInputs): Deployment {
  const { source } = observed;
  const { definition, bundle, needsNode } = desired.build;
  return {
    source: desired.id,
    owner: desired.owner,
    pool: observed.pool,
    name: source.spec.name ?? source.metadata.name,
    id: idFor(observed, inputs),
    generation: nextGeneration(observed),
    sourceGeneration: source.metadata.generation,
    active: source.spec.active,
    bundle,
    needsNode,
    props: runtimeProps(definition, source.spec.props),
    secrets: null,
    dedupe: definition.dedupe ?? null,
    ...additionalOf(desired),
    hooks: definition.hooks,
    ...startsWithOf(observed, definition.hooks),
    endpoint: endpointAddress(observed, inputs.ingressUrl),
  };
}

/** Nothing else runs before the hooks of a new version have succeeded: a version that is refused must not handle anything. */
function startsWithOf(observed: Observed, hooks: readonly Hook[]): Pick<Deployment, "startsWith"> {
  const startsWith = observed.source.spec.active ? startHooks(observed, hooks) : [];
  return startsWith.length === 0 ? {} : { startsWith };
}

/** Its public id; until the operator has assigned it, the id derived from its name. */
export function componentIdOf({ metadata: { name }, status }: ComponentResource): string {
  return status.id ?? idOfResourceName(name) ?? name;
}

/** The isolate reads the component's own props from its code. */
function additionalOf({ component, build }: Desired): Pick<Deployment, "additionalProps"> {
  const additional = boundProps(component.status.build?.definition ?? build.definition, build.definition.props);
  return additional.length === 0 ? {} : { additionalProps: additional };
}

/** A restored entry keeps its id, which marks the source as ready. */
function idFor({ source, deployed }: Observed, inputs: PlanInputs): string {
  return (deployed === undefined && wasReady(source) ? source.status.deployment : undefined) ?? inputs.deployment;
}

/**
 * Grows with each deployment, since hooks run once per generation. Exceeds the source's own generation when other code is deployed for it,
 * because its component or ConfigMap changed.
 */
export function nextGeneration({ source, deployed, hooks }: Observed): number {
  return Math.max(source.metadata.generation, deployed === undefined ? (hooks.activate?.generation ?? 0) : deployed.generation + 1);
}

export function secretsFor({ source }: Observed, { build }: Running): SecretProps {
  return secretPropsOf(source, build.definition);
}

export function endpointAddress(observed: Observed, ingressUrl: string): string | null {
  const key = observed.source.status.endpointKey;
  return key === undefined ? null : `${ingressUrl}/${key}`;
}

export function writeEndpoint(observed: Observed, desired: Running, active: boolean): readonly Step[] {
  const key = observed.source.status.endpointKey;
  const prop = desired.build.definition.props.find(({ type }) => type === "$.interface.http");
  if (key === undefined) return [];
  if (prop === undefined) return [{ do: "remove-endpoint", key }]; // The new code has no HTTP interface.
  return [
    {
      do: "write-endpoint",
      key,
      endpoint: { source: desired.id, pool: observed.pool, owner: desired.owner, customResponse: prop.customResponse === true, active },
    },
  ];
}

export function setTimers(observed: Observed, desired: Running, generation: number, pool = observed.pool): readonly Step[] {
  const steps = [...timersOf(desired.build.definition, observed.source.spec.props)].map(([prop, schedule]): Step => ({
    do: "set-timer",
    pool,
    source: desired.id,
    prop,
    schedule,
    generation,
  }));
  return steps;
}

/** Stores the deployment as the version that a failed update returns to. */
export function keepVersion(version: Omit<SourceVersion, "deployedAt">, deployedAt: number): Step {
  // It has started: when it is restored, it runs at once, even if its hooks then fail.
  const { restores: _restores, refused: _refused, startsWith: _startsWith, ...deployment } = version.deployment;
  const { spec, build } = version;
  return {
    do: "keep-version",
    version: { ...version, deployment, spec: withoutCode(spec), build: { ...build, lockfile: null }, deployedAt },
  };
}

/** The source as if it requested the last deployed version. */
export function fallbackView(observed: Observed, { version }: Fallback): Observed {
  const { source } = observed;
  const { sourceGeneration, generation } = version.deployment;
  const metadata = { ...source.metadata, generation: sourceGeneration ?? generation };
  return { ...observed, source: { ...source, metadata, spec: version.spec } };
}

/** When the source's next timer ticks, RFC 3339; undefined without timers or while paused. @param armedAt epoch ms */
export function nextTickTime({ spec }: SourceResource, { definition }: Build, now: number, armedAt = now): string | undefined {
  const next = spec.active ? nextTickOf(definition, spec.props, now, armedAt) : undefined;
  return next === undefined ? undefined : new Date(next).toISOString();
}
