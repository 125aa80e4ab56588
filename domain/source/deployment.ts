import type { BoundProp } from "../component/configure.ts";
import type { DedupeStrategy } from "../component/definition.ts";
import type { Hook } from "../trigger.ts";
import type { RunError } from "../run-products.ts";

/** A source as runners see it: an entry of the key-value bucket DEPLOYMENTS under `deploymentKey(pool, source)`, written by the operator. */
export interface Deployment {
  readonly source: string;
  readonly owner: string;
  /** Pool whose runners run it and get its invocations. */
  readonly pool: string;
  readonly name: string;
  /** `d_…`, new for each generation. */
  readonly id: string;
  /** Grows with each change of the running version. The Source's generation, unless other code was deployed for the same Source. */
  readonly generation: number;
  /** Generation of the Source resource; absent: `generation`. */
  readonly sourceGeneration?: number;
  readonly active: boolean;
  readonly bundle: string;
  readonly needsNode: boolean;
  /** Values by prop name, secrets absent. */
  readonly props: Readonly<Record<string, unknown>>;
  /** Compact JWE, sealed for the pool: JSON object of the secret values by prop name; null without any. */
  readonly secrets: string | null;
  /** Sealed for the operator: a digest of the secret values, to detect changes in their Secrets. */
  readonly secretsSeen?: string;
  /** Result of `additionalProps` when the source was configured; absent: nothing. */
  readonly additionalProps?: readonly BoundProp[];
  readonly dedupe: DedupeStrategy | null;
  readonly hooks: readonly Hook[];
  /** Hooks that must succeed in this generation before anything else runs; absent: none. */
  readonly startsWith?: readonly Hook[];
  /** Epoch ms since which the source, then inactive, is being deleted: what it has accepted ends with an error. Absent: it is not. */
  readonly ending?: number;
  /** Public URL of its HTTP interface, if it has one. */
  readonly endpoint: string | null;
  /** Id of the deployment that this one restores after an update failed; absent: it restores none. */
  readonly restores?: string;
  /** The failed update that this deployment replaces; absent: the last update did not fail. */
  readonly refused?: RefusedUpdate;
}

/** A failed update of a source. It is not retried until the source or its component changes. */
export interface RefusedUpdate {
  /** Generation of the Source resource and bundle of the update. */
  readonly sourceGeneration: number;
  readonly bundle: string;
  /** The hook that failed; absent if another step failed. */
  readonly hook?: Hook;
  readonly error: RunError;
}

/** Marks a source or workflow that moved out of a pool, so that its queued invocations there follow it. */
export interface MovedDeployment {
  readonly source: string;
  readonly movedTo: string;
}

export type DeploymentEntry = Deployment | MovedDeployment;

export const hasMoved = (entry: object): entry is MovedDeployment => "movedTo" in entry;

/** An HTTP endpoint as the ingress sees it: an entry of the bucket ENDPOINTS under the secret part of its address. */
export interface Endpoint {
  readonly source: string;
  /** Of the source's deployment. */
  readonly pool: string;
  /** Absent if an earlier version wrote it. */
  readonly owner?: string;
  /** Wait for `respond()` or `$.respond` instead of answering 200 at once. */
  readonly customResponse: boolean;
  readonly active: boolean;
  /** Of a workflow's endpoint, whose `source` is the id of the workflow. */
  readonly workflow?: {
    /** Whether requests start runs: it has an HTTP trigger. Otherwise only its resume URLs are answered. */
    readonly hasHttpTrigger: boolean;
    /** Its key is that of an email address, which starts runs; absent: it is that of a URL. */
    readonly hasEmailTrigger?: boolean;
    /** Signs its resume URLs, see domain/workflow/resume-request.ts. */
    readonly resumeKey: string;
  };
}

/** A subscription as the router sees it: an entry of the bucket ROUTES under `<subscription id>`, written by the operator. */
export interface Route {
  readonly subscription: string;
  /** Owner of the subscription; globs and organization emitters match within it. */
  readonly owner: string;
  /** `dc_…`, `p_…`, `o_…`, `u_…`, `dc_*`, `p_*`. */
  readonly emitter: string;
  /** Owner of an emitter that is named by id, if not the subscription's owner. Events of any other owner do not match. */
  readonly emitterOwner?: string;
  /** "" is the default channel. */
  readonly channel: string;
  readonly listener: RouteListener;
  /** The last commit before the subscription. Events up to it are not delivered. */
  readonly after?: CommitPosition;
}

/** Position of a commit on RUNS. */
export interface CommitPosition {
  /** Identifies the stream: a recreated one of the same name counts from 1 again. */
  readonly stream: string;
  readonly seq: number;
}

export type RouteListener =
  | {
      readonly kind: "webhook";
      readonly id: string;
      readonly url: string;
      /** Epoch ms; earlier failures do not count, see domain/delivery/webhook-failures.ts. */
      readonly enabledAt?: number;
      /** Events of one source are delivered one at a time, in the order of their commits; absent: no. */
      readonly ordered?: boolean;
      /** The `whsec_…` signing keys, newest first, each a compact JWE. */ readonly keys: readonly string[];
      /** `user:password` of each post, a compact JWE; absent: none. */
      readonly basicAuth?: string;
    }
  | { readonly kind: "source"; readonly id: string; readonly pool: string }
  | {
      readonly kind: "workflow";
      readonly id: string;
      /** Pool of its runners. Absent: it is not deployed or not active, so that its events wait in its queue. */
      readonly pool?: string;
      /** Pool of the runs that it has, while it is deployed and not active. */
      readonly runsIn?: string;
    };
