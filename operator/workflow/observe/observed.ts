import type { ComponentResource } from "../../../crds/component.ts";
import type { SubscriptionResource } from "../../../crds/subscription.ts";
import type { WorkflowResource, WorkflowStep } from "../../../crds/workflow.ts";
import type { Endpoint, Route } from "../../../domain/source/deployment.ts";
import type { WorkflowDeployment } from "../../../domain/workflow/deployment.ts";
import type { ComponentUse } from "../../configured/component-checks.ts";
import type { OwnCode } from "../../configured/own-code.ts";
import type { SecretProps } from "../../configured/secret-prop.ts";
import type { WorkflowVersion } from "../version.ts";

/** A step of the spec with its component. */
export interface ObservedStep extends ComponentUse {
  readonly step: WorkflowStep;
  /** `c_…` */
  readonly id: string;
  /** The code for a component of its own; undefined if it uses another one. */
  readonly code: OwnCode | undefined;
  /** Key of the registry's component that its own component copies. */
  readonly registryKey: string | undefined;
}

/** A source trigger of the spec. */
export interface ObservedTrigger {
  /** Index in `spec.triggers`. */
  readonly index: number;
  /** The source as the spec names it. */
  readonly shown: string;
  /** Public id; undefined if the source does not exist, or is out of the owner's reach. */
  readonly source: string | undefined;
}

/** Where to read the secret values of the current version's steps by id; "as they are": unreadable, so the sealed ones are kept. */
export type RunningSecrets = Readonly<Record<string, SecretProps | "as they are">>;

/** All inputs of a plan. */
export interface Observed {
  readonly workflow: WorkflowResource;
  /** Public id, `p_…`. */
  readonly id: string;
  /** Public id of the owner; undefined in a namespace without one. */
  readonly owner: string | undefined;
  /** The pool of its deployment, or of the one to come. */
  readonly pool: string;
  /** The pool it must move to. */
  readonly movesTo: string | undefined;
  /** Its current deployment entry. */
  readonly deployed: WorkflowDeployment | undefined;
  /** Its endpoint entry. */
  readonly endpoint: Endpoint | undefined;
  /** Its own entry in ROUTES. */
  readonly route: Route | undefined;
  /** All versions that may still run, by deployment id. */
  readonly versions: ReadonlyMap<string, WorkflowVersion>;
  readonly steps: readonly ObservedStep[];
  readonly triggers: readonly ObservedTrigger[];
  /** Does a source trigger depend on a membership, which is not watched? */
  readonly hasForeignSource: boolean;
  readonly secrets: RunningSecrets;
  /** The current version's deployed secret values are outdated. */
  readonly secretsChanged: boolean;
  /** Sources among the triggers of the current version that exist, and are within the owner's reach. */
  readonly presentSources: ReadonlySet<string>;
  /** Sources whose events another Subscription of the namespace delivers to it. */
  readonly connectedSources: ReadonlySet<string>;
  /** Components made for it that are not in deletion. */
  readonly components: readonly ComponentResource[];
  /** Subscriptions made for it, by name; those in deletion too. */
  readonly subscriptions: ReadonlyMap<string, SubscriptionResource>;
  /** The entry of this spec was refused, because it is too large. */
  readonly tooLarge?: string | undefined;
}
