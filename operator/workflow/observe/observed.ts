import type { ComponentResource } from "../../../crds/component.ts";
import type { SubscriptionResource } from "../../../crds/subscription.ts";
import type { WorkflowResource, WorkflowStep } from "../../../crds/workflow.ts";
import type { Endpoint, Route } from "../../../domain/source/deployment.ts";
import type { Control } from "../../../domain/workflow/control.ts";
import type { WorkflowDeployment } from "../../../domain/workflow/deployment.ts";
import type { DeployedUse, Placement } from "../../deployable/deployable.ts";
import type { OwnCode } from "../../configured/own-code.ts";
import type { SecretProps } from "../../versions.ts";
import type { WorkflowVersion } from "../../versions.ts";

/** A step of the spec with its component. Its id is `c_…`. */
export interface ObservedStep extends DeployedUse {
  readonly step: WorkflowStep;
  /** Of a step that controls others. */
  readonly control: Control | undefined;
  /** The workflow that it calls, as the spec names it, while it is not found among those of the owner. */
  readonly missing?: string | undefined;
  /** Values in which expressions are looked for: its props, or the fields of control flow. */
  readonly expressions: Readonly<Record<string, unknown>>;
  /** Names that its expressions may read. */
  readonly readable: readonly string[];
  readonly code: OwnCode | undefined;
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
export interface Observed extends Placement<WorkflowDeployment> {
  readonly workflow: WorkflowResource;
  /** Public id, `p_…`. */
  readonly id: string;
  /** Its endpoint entry. */
  readonly endpoint: Endpoint | undefined;
  /** The entry of its email address. */
  readonly emailEndpoint?: Endpoint | undefined;
  /** The entry of the address of its files. */
  readonly filesEndpoint?: Endpoint | undefined;
  /** Whether the installation receives emails. */
  readonly receivesEmails?: boolean;
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
