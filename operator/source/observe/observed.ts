import type { SourceResource } from "../../../crds/source.ts";
import type { ComponentResource } from "../../../crds/component.ts";
import type { SourceState } from "../../../domain/run/commit.ts";
import type { Deployment, Endpoint } from "../../../domain/source/deployment.ts";
import type { RunError } from "../../../domain/run-products.ts";
import type { Placement } from "../../deployable/deployable.ts";
import type { ReloadResult } from "../../configured/additional-props.ts";
import type { OwnCode } from "./own-code.ts";
import type { SecretProps } from "../../versions.ts";
import type { SecretPropValues } from "../../configured/secret-props.ts";
import type { SourceVersion } from "../../versions.ts";

/** The last version that was completely deployed, and its current secret values. */
export interface Fallback {
  readonly version: SourceVersion;
  /** Where to read its secret values; "as they are" when some are unreadable: the sealed ones are kept then. */
  readonly secrets: SecretProps | "as they are";
  /** It is deployed with secret values that have changed since. */
  readonly secretsChanged: boolean;
}

/** All inputs of a plan. What the plan of a settled source does not need is not read. */
export interface Observed extends Placement<Deployment> {
  /** Public id, `dc_…`. */
  readonly id: string;
  readonly source: SourceResource;
  readonly component: ComponentResource | undefined;
  /** The code for the source's own component; undefined if it refers to a component, or is settled. */
  readonly code: OwnCode | undefined;
  /** Values of its secret props; undefined without any, and if it is settled and they cannot have changed. */
  readonly secrets: SecretPropValues | undefined;
  /** The deployed values are outdated. */
  readonly secretsChanged: boolean;
  /** What runs when the spec cannot be deployed; undefined before the first complete deployment, and if settled. */
  readonly fallback?: Fallback | undefined;
  /** Why a step of this update can never succeed. */
  readonly failure?: RunError | undefined;
  /** Its endpoint entry; not read if it is settled or in deletion. */
  readonly endpoint: Endpoint | undefined;
  /** Result of the last call of `additionalProps` for this source. */
  readonly reloaded?: ReloadResult | undefined;
  /** Hook runs by hook, with their generation. */
  readonly hooks: SourceState["hooks"];
  /** Number of its accepted invocations that have not ended; only read in a deletion, once runners end them. */
  readonly queued?: number | undefined;
  /** Its runs that killed their process; not read if settled. */
  readonly kills?: SourceState["kills"] | undefined;
}
