import type { Kind, Resource } from "../../crds/resource.ts";
import type { SecretReference } from "../../crds/secret-reference.ts";
import { hasMoved, type Deployment, type MovedDeployment } from "../../domain/source/deployment.ts";
import { defaultPool, deploymentKey } from "../../domain/subjects.ts";
import type { RunError } from "../../domain/run-products.ts";
import type { WorkflowDeployment } from "../../domain/workflow/deployment.ts";
import type { ReloadResult } from "../configured/additional-props.ts";
import type { Blocked } from "../configured/blocked.ts";
import type { ComponentUse } from "../configured/component-checks.ts";
import type { OwnCode } from "../configured/own-code.ts";
import type { AnyStatus } from "../controller/status.ts";
import type { Health, StatusHealth } from "../health/status-health.ts";
import type { Entries, OperatorPorts } from "../ports.ts";
import type { DeployableStep } from "./step.ts";

export interface DeployableStatus extends AnyStatus, StatusHealth<string> {
  readonly id?: string | undefined;
  readonly pool?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly deployment?: string | undefined;
}

/** Where a resource is deployed. */
export interface Placement<D> {
  /** Public id of the owner; undefined in a namespace without one. */
  readonly owner: string | undefined;
  /** The pool of its deployment, or of the one to come. */
  readonly pool: string;
  /** The pool it must move to. */
  readonly movesTo: string | undefined;
  /** Its current deployment entry. */
  readonly deployed: D | undefined;
}

/** What a plan finds of every deployable. */
export interface AnyObserved extends Placement<unknown> {
  /** Public id. */
  readonly id: string;
}

/** A component as a deployable uses it: the one of a source, or of a step of a workflow. */
export interface DeployedUse extends ComponentUse {
  /** Unique in the resource. */
  readonly id: string;
  /** The code for a component of its own; undefined if it uses another one. */
  readonly code: OwnCode<string> | undefined;
  /** Where the code is read. */
  readonly url: string | undefined;
  /** Key of the registry's component that its own component copies. */
  readonly registryKey?: string | undefined;
  /** The code is read once per generation of the resource. */
  readonly isReadOnce: boolean;
}

/** What is remembered between plans. All of it is found again after a restart. */
export interface Memory {
  /** Result of the last call of `additionalProps` for a component, by the id of its use. */
  reloaded(use: string): ReloadResult | undefined;
  /** Why a step of this update can never succeed. */
  readonly failure: RunError | undefined;
}

/** Inputs of a plan that it must not generate itself. */
export interface PlanInputs {
  /** A new `d_…`. */
  readonly deployment: string;
  readonly endpointKey: string;
  readonly ingressUrl: string;
  /** Epoch ms. */
  readonly now: number;
}

/**
 * A kind whose resources are deployed to runners, over the ports of an operator. Hooks, several component uses, versions and routes are
 * optional: they are there when its plans have steps for them.
 *
 * @template O what its plans find @template Own the steps that only this kind has
 */
export interface Deployable<S, T extends DeployableStatus, O extends AnyObserved, Own extends { readonly do: string }> {
  readonly kind: Kind<S, T>;
  readonly idKind: "source" | "workflow";
  readonly entries: Pick<Entries<MovedDeployment>, "put" | "delete">;
  /** "its component", for messages. */
  readonly calledComponent: string;
  references(resource: Resource<S, T>): readonly SecretReference[];
  /** Ids of the accounts in its props. */
  accountsOf(resource: Resource<S, T>): readonly string[];
  /** Reads everything a plan needs. */
  observe(resource: Resource<S, T>, id: string): Promise<O>;
  remember(observed: O, memory: Memory): O;
  uses(observed: O): readonly DeployedUse[];
  blockedBy(observed: O): Blocked<string> | undefined;
  plan(observed: O): readonly (DeployableStep<T> | Own)[];
  apply(step: Own, resource: Resource<S, T>, id: string): Promise<void>;
  reportBlocked(observed: O, blocked: Blocked): readonly (DeployableStep<T> | Own)[];
  healthOf(resource: Resource<S, T>): Health<string>;
  /** Must it be polled, because it reads something that is not watched? */
  isLive(observed: O): boolean;
  readsUrl(resource: Resource<S, T>): boolean;
  /** Identifies the update to the requested version. */
  updateOf(observed: O): string;
  /** Does a step whose error is lasting fail its update? */
  failsUpdate(step: string, error: Error, observed: O): boolean;
  /** Milliseconds until the next pass of a settled resource. */
  retryAfterMs?(observed: O): number | undefined;
  forget?(resource: Resource<S, T>): void;
}

/** Where the resource is deployed, and where it must be. */
export async function observePlacement<D extends Deployment | WorkflowDeployment>(
  { metadata: { namespace }, status }: Resource<unknown, DeployableStatus>,
  id: string | undefined,
  entries: Pick<Entries<D | MovedDeployment>, "get">,
  ports: Pick<OperatorPorts, "owners" | "pools">,
): Promise<Placement<D>> {
  const owner = await ports.owners.ownerOf(namespace);
  const ownerPool = owner === undefined ? undefined : ports.pools.poolOf(owner);
  const pool = status.pool ?? ownerPool ?? defaultPool;
  const entry = id === undefined ? undefined : await entries.get(deploymentKey(pool, id));
  const deployed = entry === undefined || hasMoved(entry) ? undefined : entry;
  return { owner, pool, movesTo: pool === ownerPool ? undefined : ownerPool, deployed };
}
