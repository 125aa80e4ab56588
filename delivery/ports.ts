import type { AdmissionGate } from "../domain/limits/admission.ts";
import type { Clock } from "../domain/clock.ts";
import type { Commit } from "../domain/run/commit.ts";
import type { CommitPosition, Route, RouteListener } from "../domain/source/deployment.ts";
import type { EndpointFailures } from "../domain/delivery/webhook-failures.ts";
import type { LineState } from "../domain/delivery/ordered-queue.ts";
import type { RedeliveryRequest } from "../domain/delivery/redelivery.ts";
import type { Replay } from "../domain/event/replay.ts";
import type { TraceContext, Traces } from "../domain/traces.ts";
import type { EmittedEvent } from "../domain/event/emitted-event.ts";
import type { Hmac } from "../domain/delivery/webhook-signature.ts";
import type { TestedWebhook, WebhookTest } from "../domain/delivery/webhook-test.ts";
import type { OrderedQueues, Replicas } from "./replica-ports.ts";
import type { Reading, Runs } from "./routing/ports.ts";

/** Everything the delivery role reaches; main.ts wires adapters to it. */
export interface DeliveryPorts {
  readonly runs: Runs;
  readonly routes: RouteEntries;
  readonly deliveries: Deliveries;
  readonly replays: Replays;
  /** Announces a scheduled event that has become due to live streams. Best effort, never throws. */
  readonly announce: (event: EmittedEvent) => void;
  readonly lines: LineMessages;
  readonly orderedQueues: OrderedQueues;
  readonly replicas: Replicas;
  readonly tests: Tests;
  readonly invocations: Invocations;
  /** Knows which listening sources are at the bound of their backlog. */
  readonly admission: Pick<AdmissionGate, "admits">;
  readonly workflows: Workflows;
  readonly overQuota: OverQuota;
  readonly poster: Poster;
  readonly history: History;
  /** Opens signing keys. @throws InvalidInput */
  readonly secrets: { open(sealed: string): Promise<string> };
  readonly hmac: Hmac;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  readonly metrics?: DeliveryMetrics;
  /** Absent: there are none. */
  readonly traces?: Traces | undefined;
}

/** What is counted of deliveries. */
export interface DeliveryMetrics {
  /** An attempt has ended. `left_out`: the event must not go there (a circle of sources), and never will. */
  attempted(listener: RouteListener["kind"], outcome: Attempt["outcome"] | "left_out", durationMs: number): void;
  /** An event has arrived, so long after its commit or the time it asked for. */
  delivered(listener: RouteListener["kind"], lagMs: number): void;
}

export interface Log {
  info(fields: object, message?: string): void;
  warn(fields: object, message?: string): void;
  error(fields: object, message?: string): void;
}

export type { OrderedQueue, OrderedQueues, Replicas } from "./replica-ports.ts";
export type { OpenPartition, OrderedReading, PartitionReading, Reading, Runs } from "./routing/ports.ts";

export interface RouteEntries {
  /** Tells every entry there is, resolves, and goes on telling of changes. */
  watch(onEntry: (subscription: string, route: Route | undefined) => void): Promise<Reading>;
}

/** A delivery that is not finished at once: a message of its own. */
export interface Deliveries {
  /** Makes it due at `atMs`, in place of an earlier schedule of the same delivery; a repeated `messageId` is ignored. */
  schedule(webhook: string, delivery: string, text: string, atMs: number, messageId: string): Promise<void>;
  /** Ends a schedule that is not needed any more. */
  withdraw(webhook: string, delivery: string): Promise<void>;
  /** The text that is scheduled and not yet due; undefined when there is none. */
  findScheduled(webhook: string, delivery: string): Promise<string | undefined>;
  /** What the stream holds, as of about a second ago; absent or undefined: it is not known, or there is no limit. */
  usage?(): StoreUsage | undefined;
  /** Hands out what is due, and who asks for what again; unsettled messages are handed out again. */
  read(readers: DueReaders): Promise<Reading>;
}

export interface StoreUsage {
  readonly bytes: number;
  /** What it should hold at most. */
  readonly maxBytes: number;
}

export interface DueReaders {
  readonly onDue: (text: string, ack: () => void) => void;
  /** A scheduled event that is due. */
  readonly onEvent: (text: string, ack: () => void) => void;
  readonly onRequest: (request: RedeliveryRequest, ack: () => void) => void;
}

/** Tests of webhooks that the API asks for; any number of processes may answer, each is asked of one. */
export interface Tests {
  serve(test: (request: WebhookTest) => Promise<TestedWebhook>): Promise<Reading>;
}

export interface Replays {
  /** Each event that is to be delivered once more, until `done`; of one source never a second before the first is done. */
  read(onEvent: (text: string, done: () => void) => void): Promise<Reading>;
}

/** What lies in the lines of ordered webhooks, and how far each has come. One process works with it at a time; a former one changes nothing. */
export interface LineMessages {
  /** The webhooks that messages lie in a line for, and what was kept of every line there has been. */
  load(): Promise<LoadedLines>;
  findLast(webhook: string): Promise<LineMessage | undefined>;
  /** The first message from that sequence on. A copy of the stream may be behind: what was stored just now may be missing, nothing else. */
  findNext(webhook: string, from: number): Promise<LineMessage | undefined>;
  /** Stores a message behind the last one, which has that sequence (0: there is none); returns its own, undefined when another is the last. */
  append(webhook: string, text: string, behind: number): Promise<number | undefined>;
  /** What is gone already is no error. */
  remove(webhook: string, sequences: readonly number[]): Promise<void>;
  removeBefore(webhook: string, sequence: number): Promise<void>;
  /** Stores how far a line has come. @returns what is stored in its place, when that is further */
  keep(webhook: string, state: LineState): Promise<LineState | undefined>;
  /** Removes all of a line. */
  end(webhook: string): Promise<void>;
}

export interface LoadedLines {
  /** Tells the stream of messages from another of its name. */
  readonly stream: string;
  readonly stored: readonly string[];
  readonly states: ReadonlyMap<string, LineState>;
}

export interface LineMessage {
  readonly seq: number;
  readonly text: string;
}

export interface Invocations {
  /** Writes an invocation, given as JSON text, of a listening source of the pool; a repeated `messageId` is ignored. */
  request(pool: string, source: string, invocation: string, messageId: string): Promise<void>;
}

/** The queues of workflows. */
export interface Workflows {
  /** Keeps a delivery, given as JSON text, until the workflow takes it; a repeated `messageId` is ignored. */
  keep(workflow: string, delivery: string, messageId: string): Promise<void>;
}

/** What runners are told of owners who have used up their quota. */
export interface OverQuota {
  /** Of whom it is told now; none where they are too many to list: what is told ends at midnight. */
  list(): Promise<readonly string[]>;
  /** Until then, epoch ms. */
  tell(owner: string, untilMs: number): Promise<void>;
  withdraw(owner: string): Promise<void>;
  /** How many times as much as most an owner gets; forgotten after an hour. */
  tellWeight(owner: string, weight: number): Promise<void>;
  withdrawWeight(owner: string): Promise<void>;
}

export interface Poster {
  /** Never throws; does not follow redirects; obeys the egress policy. */
  post(request: PostRequest): Promise<PostResult>;
}

export interface PostRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type PostResult =
  | { readonly outcome: "answered"; readonly status: number; readonly retryAfter: string | undefined }
  | { readonly outcome: "unreachable"; readonly code: string; readonly message: string };

/** Postgres. */
export interface History {
  /** By partition, the stream sequence up to which commits are recorded. */
  positions(): Promise<readonly number[]>;
  /**
   * Rows and positions (the sequence of the last commit of each partition) in one transaction. Of a partition whose position is not the
   * expected one nothing is written. @returns those partitions
   */
  recordCommits(commits: readonly RecordedCommit[], expected: ReadonlyMap<number, number>): Promise<readonly number[]>;
  /** Of a scheduled event by the id under which it is listed: `gone` when it was canceled, or emitted before; `unrecorded`: its commit is. */
  scheduledEvent(source: string, listedId: string, position: CommitPosition): Promise<"listed" | "gone" | "unrecorded">;
  /** From the list of scheduled events into the history, under that id. What is not listed any more is left as it is. */
  emitScheduledEvent(source: string, listedId: string, id: string): Promise<void>;
  /** Owners who have used up what their plan gives them of the day that began then, epoch ms. */
  listOverQuota(dayMs: number): Promise<readonly string[]>;
  /** How many times as much as most the owners get who do not get once as much. */
  listWeights(): Promise<ReadonlyMap<string, number>>;
  recordAttempts(attempts: readonly Attempt[]): Promise<void>;
  /** One that dies again becomes another dead letter, with an id of its own. */
  recordDeadLetters(letters: readonly DeadLetter[]): Promise<void>;
  findDeadLetter(webhook: string, delivery: string): Promise<KeptDeadLetter | undefined>;
  /** Oldest first, up to the one with that id. */
  oldestDeadLetters(webhook: string, upTo: string, limit: number): Promise<readonly KeptDeadLetter[]>;
  /** By their ids: what has died again since stays. */
  removeDeadLetters(webhook: string, ids: readonly string[]): Promise<void>;
  failingEndpoints(): Promise<readonly EndpointFailures[]>;
  /** Those that fail, in place of what was known of them, and those that fail no more, as they were known. */
  saveEndpoints(failing: readonly EndpointFailures[], recovered: readonly EndpointFailures[]): Promise<void>;
}

export interface RecordedCommit {
  /** Stream sequence. */
  readonly seq: number;
  readonly commit: Commit;
}

/** What a delivery is about; the same for each of its attempts. */
export interface DeliverySubject {
  /** Id of the delivery: one event towards one subscription. */
  readonly delivery: string;
  readonly webhook: string;
  readonly subscription: string;
  readonly owner: string;
  /** Public id of the emitter. */
  readonly source: string;
  /** Event id, `<epoch ms>-<sequence>`. */
  readonly event: string;
  readonly emitId: string;
  /** "" is the default channel. */
  readonly channel: string;
}

export interface Attempt extends DeliverySubject {
  /** The first is 1. */
  readonly attempt: number;
  /** Epoch ms. */
  readonly at: number;
  readonly durationMs: number;
  readonly outcome: "delivered" | "retry" | "dead";
  /** HTTP status, if there was an answer. */
  readonly status: number | null;
  readonly error: string | null;
}

/** What an event takes along to whoever gets it, beside its payload and what its delivery is about. Its trace context is that of its commit, or of its replay. */
export interface Carried extends TraceContext {
  /** Epoch ms. */
  readonly ts: number;
  /** The id given to `$emit`; absent: none. */
  readonly dedupeId?: string;
  readonly summary?: string;
  readonly deliverAt?: number;
  /** Of the run that emitted it. */
  readonly hops?: number;
  /** The last sources on its way to that run. */
  readonly way?: readonly string[];
  /** Set for one that is delivered once more because somebody asked for it. */
  readonly replay?: Replay;
}

export interface DeadLetter extends DeliverySubject {
  readonly attempts: number;
  /** Why nobody will try again. */
  readonly reason: string;
  /** Epoch ms. */
  readonly diedAt: number;
  /** JSON text of the event. */
  readonly payload: string;
  /** Delivered again, it is as it was; absent: an earlier version has not kept it. */
  readonly carried?: Carried;
}

export interface KeptDeadLetter extends DeadLetter {
  readonly id: string;
}

export interface DeliveryConfig {
  /** A delivery not finished within this becomes a message of its own. */
  readonly patienceMs: number;
  /** Attempts under way at one webhook. */
  readonly attemptsPerWebhook: number;
  /** More listeners than this for one event, and each becomes a message of its own at once. */
  readonly maxDirectListeners: number;
  /** Deliveries that may wait in the line of an ordered webhook; what comes then becomes a dead letter. Absent: any number. */
  readonly maxInLine?: number;
  /** What one attempt may take; the poster's own limit. */
  readonly attemptTimeoutMs: number;
  /** An endpoint at which nothing has arrived for so long is disabled; absent: never for that. */
  readonly disableAfterMs?: number;
  /** ms from a failed attempt to the next; undefined after the last. */
  readonly nextAttempt: (attempt: number, random: number, retryAfterMs?: number) => number | undefined;
  /** Default: 200 posts at once and 50 a second. */
  readonly replayPace?: ReplayPace;
}

/** How many replayed events one owner posts to one host. */
export interface ReplayPace {
  readonly burst: number;
  readonly perSecond: number;
}
