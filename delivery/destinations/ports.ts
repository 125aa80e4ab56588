import type { ReceivedResponse } from "../../domain/delivery/exchange.ts";
import type { WebhookFailures } from "../../domain/delivery/webhook-failures.ts";
import type { StreamUsage } from "../../domain/limits/stream-share.ts";
import type { RouteListener } from "../../domain/source/deployment.ts";

/** `send`: what `$.send` of workflows asked for. */
export type ListenerKind = RouteListener["kind"] | "send";

export interface DeliveryMetrics {
  /** Counts an attempt that has ended. `left_out`: the event must never go to this listener, for example because of a cycle of sources. */
  attempted(listener: ListenerKind, outcome: "delivered" | "retry" | "dead" | "left_out", durationMs: number): void;
  /** Observes the time from an event's commit, or its `delivery_ts`, to its arrival. */
  delivered(listener: RouteListener["kind"], lagMs: number): void;
}

export interface Secrets {
  /** Opens signing keys and sealed payloads. @throws InvalidInput */
  open(sealed: string): Promise<string>;
  /** Absent: a dead letter of `$.send.http` cannot be delivered again with its credentials. */
  seal?(text: string): Promise<string>;
}

/** Postgres: webhooks that fail. */
export interface WebhookFailureStore {
  listFailingWebhooks(): Promise<readonly WebhookFailures[]>;
  /** Replaces the records of `failing`, and deletes the records of `recovered` unless they have changed. */
  saveWebhookFailures(failing: readonly WebhookFailures[], recovered: readonly WebhookFailures[]): Promise<void>;
}

export interface Invocations {
  /** Stores an invocation, given as JSON text, of a listening source or workflow of the pool. A repeated `messageId` is ignored. */
  request(pool: string, listener: string, invocation: string, messageId: string): Promise<void>;
}

/** The queues of workflows: deliveries that wait until their workflow becomes active. */
export interface Workflows {
  /** Stores a delivery, given as JSON text, at the end of the workflow's queue. A repeated `messageId` is ignored. @throws Unavailable `store_full` */
  store(queue: WorkflowQueue, delivery: string, messageId: string): Promise<void>;
  /** What waits for all workflows of an owner. */
  waiting(owner: string): Promise<WaitingEvents>;
  /** Workflows whose queues are not empty. */
  listQueued(): Promise<readonly string[]>;
  /** The first delivery in the queue at or after this sequence. */
  findNext(workflow: string, from: number): Promise<QueuedDelivery | undefined>;
  /** Removes the deliveries of the queue up to this sequence. */
  removeUpTo(workflow: string, sequence: number): Promise<void>;
}

export interface WorkflowQueue {
  readonly workflow: string;
  /** Owner of the workflow. */
  readonly owner: string;
}

export interface WaitingEvents {
  /** Of the stream that all owners share; undefined: it has no limit. */
  readonly usage: StreamUsage | undefined;
  /** Of the owner. Sizes are rounded up to the next class. */
  readonly bytes: number;
  /** By workflow. */
  readonly counts: ReadonlyMap<string, number>;
}

export interface QueuedDelivery {
  readonly sequence: number;
  readonly text: string;
}

export interface Poster {
  /** Never throws, does not follow redirects, and obeys the egress policy. */
  post(request: PostRequest): Promise<PostResult>;
}

export interface PostRequest {
  /** Default: POST. */
  readonly method?: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Absent: none. */
  readonly body?: string;
  /** How many bytes of the response's body are returned, with its headers. Absent: neither. */
  readonly keepBytes?: number;
}

/** The S3-compatible store of the installation. */
export interface Objects {
  /** The only bucket that may be written; undefined: any. */
  readonly bucket: string | undefined;
  /** Whether the keys of objects begin with the id of their owner, so that no owner writes among the objects of another. */
  readonly hasOwnerPrefix: boolean;
  /** Stores an object. Never throws. @param key its parts, which are joined by slashes */
  put(object: StoredObject): Promise<PostResult>;
}

export interface StoredObject {
  readonly bucket: string;
  readonly key: readonly string[];
  readonly body: string;
  readonly contentType: string;
}

export type PostResult =
  | {
      readonly outcome: "answered";
      readonly status: number;
      readonly retryAfter: string | undefined;
      /** Present if it was asked for. */
      readonly received?: ReceivedResponse;
    }
  | { readonly outcome: "unreachable"; readonly code: string; readonly message: string };
