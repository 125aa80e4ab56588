import type { SourceState } from "../../domain/commit.ts";
import type { Deployment, Endpoint } from "../../domain/deployment.ts";
import type { RunError } from "../../domain/run-error.ts";
import type { Reloaded } from "./additional-props.ts";
import type { OwnCode } from "./own-code.ts";
import type { ComponentResource, SourceResource } from "./resources.ts";
import type { SecretProps, SecretPropValues } from "./secret-props.ts";
import type { SourceVersion } from "./version.ts";

export type { ComponentResource, SourceResource };

/** The last version whose deployment was completed, and what its secret values are now. */
export interface Standing {
  readonly version: SourceVersion;
  /** Where to read its secret values; "as they are" when some cannot be read: then those that were sealed last are kept. */
  readonly secrets: SecretProps | "as they are";
  /** It is deployed, and other secret values are deployed with it than there are now. */
  readonly secretsChanged: boolean;
}

/** All that a plan is made from, read before it. What a settled source's plan does not need is not read. */
export interface Observed {
  readonly source: SourceResource;
  /** Public id of the owner; undefined in a namespace that nobody owns. */
  readonly owner: string | undefined;
  readonly component: ComponentResource | undefined;
  /** What the source's own component is to hold; undefined when it refers to one, or is settled. */
  readonly code: OwnCode | undefined;
  /** Values of its secret props; undefined without any, and when it is settled and they cannot have changed. */
  readonly secrets: SecretPropValues | undefined;
  /** The values are not those that are deployed. */
  readonly secretsChanged: boolean;
  /** What runs when the spec cannot be deployed; undefined: nothing was deployed completely yet. Not read when it is settled. */
  readonly standing?: Standing | undefined;
  /** Why a step of this update cannot be done, however often it is tried. */
  readonly failure?: RunError | undefined;
  /** Where it is deployed, or is to be when it is not yet. */
  readonly pool: string;
  /** The pool that it is to move to. */
  readonly movesTo: string | undefined;
  /** The entry that runners see now. */
  readonly deployed: Deployment | undefined;
  /** The entry of its address; not read when it is settled or ends. */
  readonly endpoint: Endpoint | undefined;
  /** What the component's `additionalProps` came to when it was last called for this source. */
  readonly reloaded?: Reloaded | undefined;
  /** Which hooks have run, for which generation. */
  readonly hooks: SourceState["hooks"];
  /** Its runs that cost their process; not read when it is settled. */
  readonly kills?: SourceState["kills"] | undefined;
}
