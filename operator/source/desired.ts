import type { Build } from "../../domain/definition.ts";
import type { Deployment } from "../../domain/deployment.ts";
import { idOfResourceName } from "../../domain/ids.ts";
import { runtimeProps } from "../../domain/prop-values.ts";
import { timersOf } from "../../domain/source-timers.ts";
import { boundProps } from "./additional-props.ts";
import type { ComponentResource, Observed, Standing } from "./observed.ts";
import type { Fresh } from "./inputs.ts";
import { secretPropsOf, type SecretProps } from "./secret-props.ts";
import { wasReady } from "./settled.ts";
import type { Step } from "./step.ts";
import { withoutCode, type SourceVersion } from "./version.ts";

/** What the plan has made sure of. */
export interface Wanted {
  readonly id: string;
  readonly owner: string;
  readonly component: ComponentResource;
  readonly build: Build;
}

/** What entries, endpoints and timers are made from: the version that is asked for, or the one that was deployed last. */
export type Running = Pick<Wanted, "id" | "owner" | "build">;

/** The entry that runners are to see, without its secrets. */
export function wantedDeployment(observed: Observed, wanted: Wanted, fresh: Fresh): Deployment {
  const { source } = observed;
  const { definition, bundle, needsNode } = wanted.build;
  return {
    source: wanted.id,
    owner: wanted.owner,
    pool: observed.pool,
    name: source.spec.name ?? source.metadata.name,
    id: idFor(observed, fresh),
    generation: nextGeneration(observed),
    sourceGeneration: source.metadata.generation,
    active: source.spec.active,
    bundle,
    needsNode,
    props: runtimeProps(definition, source.spec.props),
    secrets: null,
    dedupe: definition.dedupe ?? null,
    ...additionalOf(wanted),
    hooks: definition.hooks,
    endpoint: endpointAddress(observed, fresh.ingressUrl),
  };
}

/** Its public id, which its name stands for until the operator has written it down. */
export function componentIdOf({ metadata: { name }, status }: ComponentResource): string {
  return status.id ?? idOfResourceName(name) ?? name;
}

/** The isolate knows the component's own props by its code. */
function additionalOf({ component, build }: Wanted): Pick<Deployment, "additionalProps"> {
  const additional = boundProps(component.status.build?.definition ?? build.definition, build.definition.props);
  return additional.length === 0 ? {} : { additionalProps: additional };
}

/** What is restored keeps its id: by it the source is known to be ready. */
function idFor({ source, deployed }: Observed, fresh: Fresh): string {
  return (deployed === undefined && wasReady(source) ? source.status.deployment : undefined) ?? fresh.deployment;
}

/**
 * Grows with whatever is deployed, since hooks run once for each. It is the source's own generation but for other code that is
 * deployed for the same one: its component or ConfigMap was changed.
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

export function writeEndpoint(observed: Observed, wanted: Running, active: boolean): readonly Step[] {
  const key = observed.source.status.endpointKey;
  const prop = wanted.build.definition.props.find(({ type }) => type === "$.interface.http");
  if (key === undefined) return [];
  if (prop === undefined) return [{ do: "remove-endpoint", key }]; // New code without an HTTP interface.
  return [
    {
      do: "write-endpoint",
      key,
      endpoint: { source: wanted.id, pool: observed.pool, owner: wanted.owner, customResponse: prop.customResponse === true, active },
    },
  ];
}

export function setTimers(observed: Observed, wanted: Running, generation: number, pool = observed.pool): readonly Step[] {
  const steps = [...timersOf(wanted.build.definition, observed.source.spec.props)].map(([prop, schedule]): Step => ({
    do: "set-timer",
    pool,
    source: wanted.id,
    prop,
    schedule,
    generation,
  }));
  return steps;
}

/** Keeps what is deployed as the version that a failed update returns to. */
export function keepVersion(version: Omit<SourceVersion, "deployedAt">, deployedAt: number): Step {
  const { restores: _restores, refused: _refused, ...deployment } = version.deployment;
  const { spec, build } = version;
  return {
    do: "keep-version",
    version: { ...version, deployment, spec: withoutCode(spec), build: { ...build, lockfile: null }, deployedAt },
  };
}

/** The same source as though it asked for the version that was deployed last. */
export function standingView(observed: Observed, { version }: Standing): Observed {
  const { source } = observed;
  const { sourceGeneration, generation } = version.deployment;
  const metadata = { ...source.metadata, generation: sourceGeneration ?? generation };
  return { ...observed, source: { ...source, metadata, spec: version.spec } };
}
