import type { StreamUsage } from "../../domain/limits/stream-share.ts";

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
  | { readonly outcome: "answered"; readonly status: number; readonly retryAfter: string | undefined }
  | { readonly outcome: "unreachable"; readonly code: string; readonly message: string };
