import type { Msg } from "@nats-io/transport-node";
import { type HeadwaterError, LimitExceeded, Unavailable } from "../../../domain/errors.ts";
import { EncodedHeaders } from "./encoded-headers.ts";
import type { Link, LinkStatus } from "./link.ts";
import { isRefusedForCopy, refusal, type ApiError } from "./errors.ts";

export interface PublishOptions {
  /** Within the stream's duplicate window (120 s) a second message with this id is not stored. */
  readonly messageId?: string;
  /** 0: the subject must be empty. */
  readonly expectedLastSubjectSequence?: number;
  /** The subject of that sequence. Absent: the subject of the message. */
  readonly expectedSubject?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly schedule?: MessageSchedule;
  /** NATS removes the message after this time. */
  readonly ttlSeconds?: number;
  readonly timeoutMs?: number;
}

/** NATS publishes the body of the message on `target`, a subject of the same stream, at each time of the schedule. */
export interface MessageSchedule {
  /** `@every 5s`, `@at <RFC 3339>`, or cron with six fields. */
  readonly schedule: string;
  readonly target: string;
  readonly timezone?: string;
}

export interface Published {
  readonly seq: number;
  /** The message id was known: nothing was stored, and `seq` is that of the first message. */
  readonly duplicate: boolean;
}

interface Pending {
  readonly subject: string;
  readonly data: Uint8Array | string;
  readonly headers: EncodedHeaders | undefined;
  readonly expected: number | undefined;
  /** Safe to send twice: NATS recognizes the message by its id or expected sequence. */
  readonly repeatable: boolean;
  readonly deadline: number;
  /** False: to be sent, or sent again, as soon as the connection is open. */
  sent: boolean;
  sentAt: number;
  /** Copies sent on this connection that NATS has not answered yet. It may refuse one because it has stored another. */
  unanswered: number;
  /** A copy was sent on a connection that broke before its answer. */
  hasLostCopy: boolean;
  readonly resolve: (published: Published) => void;
  readonly reject: (error: HeadwaterError) => void;
}

const defaultTimeoutMs = 10_000;
const sweepEveryMs = 100;
/** A message without an answer is sent again after this time, in case it reached a lost server. Another one leads the stream within 4 to 9 s. */
const resendAfterMs = 3_000;

/**
 * Publishes into streams with one inbox subscription and a map of pending messages, at a fifth of the cost of the client's `publish`. While
 * NATS is unavailable, messages wait here until their timeout. A message in flight when the connection breaks is sent again if that is
 * safe, otherwise rejected at once: it is unknown whether it was stored.
 */
export class Publisher {
  readonly #link: Link;
  readonly #pending = new Map<string, Pending>();
  #inbox = "";
  #number = 0;
  #sweeper: NodeJS.Timeout | undefined;
  #unfollowStatus: (() => void) | undefined;

  constructor(link: Link) {
    this.#link = link;
  }

  start(): void {
    this.#inbox = this.#link.newInbox();
    this.#link.nats.subscribe(`${this.#inbox}.*`, { callback: (_error, message) => this.#onAnswer(message) });
    this.#unfollowStatus = this.#link.onStatus((status) => this.#onStatus(status));
  }

  /** Rejects all pending messages. */
  stop(): void {
    this.#unfollowStatus?.();
    this.#rejectAll("closed");
  }

  /**
   * Resolves when NATS has stored the message as durably as the stream requires.
   * @throws WrongLastSequence; Unavailable when it is unknown whether it was stored; InvalidInput when NATS refuses it; LimitExceeded
   */
  publish(subject: string, data: string | Uint8Array, options: PublishOptions = {}): Promise<Published> {
    return new Promise((resolve, reject) => {
      const fields = headerFields(options);
      const expected = options.expectedLastSubjectSequence;
      const token = (this.#number++).toString(36);
      const pending: Pending = {
        subject,
        data,
        headers: fields === undefined ? undefined : new EncodedHeaders(fields),
        expected,
        repeatable: options.messageId !== undefined || expected !== undefined,
        deadline: performance.now() + (options.timeoutMs ?? defaultTimeoutMs),
        sent: false,
        sentAt: 0,
        unanswered: 0,
        hasLostCopy: false,
        resolve,
        reject,
      };
      if (this.#link.status() === "closed") return reject(new Unavailable(`publishing on '${subject}' failed: the connection is closed`));
      this.#pending.set(token, pending);
      this.#sweeper ??= setInterval(() => this.#sweep(), sweepEveryMs);
      if (this.#link.status() === "connected") this.#send(token, pending);
    });
  }

  #send(token: string, pending: Pending): void {
    const reply = `${this.#inbox}.${token}`;
    try {
      this.#link.nats.publish(
        pending.subject,
        pending.data,
        pending.headers === undefined ? { reply } : { reply, headers: pending.headers },
      );
      pending.sent = true;
      pending.unanswered++;
      pending.sentAt = performance.now();
    } catch (cause) {
      this.#pending.delete(token);
      pending.reject(notSent(pending, cause));
    }
  }

  #onAnswer(message: Msg): void {
    const token = message.subject.slice(this.#inbox.length + 1);
    const pending = this.#pending.get(token);
    if (pending === undefined) return;
    pending.unanswered--;
    if (message.data.length === 0) {
      // No responders: the stream is starting or electing a leader. Nothing was stored; the next sweep sends it again.
      pending.sent = false;
      return;
    }
    const answer = JSON.parse(message.string()) as { seq?: number; duplicate?: boolean; error?: ApiError }; // The JetStream protocol defines the form.
    // The answer to another copy decides.
    if (answer.error !== undefined && pending.unanswered > 0 && isRefusedForCopy(answer.error, pending.expected)) return;
    this.#pending.delete(token);
    if (answer.error !== undefined) pending.reject(refusal(pending.subject, pending.expected, answer.error));
    else pending.resolve({ seq: answer.seq ?? 0, duplicate: answer.duplicate === true });
  }

  #onStatus(status: LinkStatus): void {
    if (status === "closed") return this.#rejectAll("closed");
    if (status === "connected") return this.#sendUnsent();
    for (const [token, pending] of this.#pending) {
      if (pending.sent && !pending.repeatable) this.#rejectOne(token, pending, "the connection broke");
      pending.hasLostCopy ||= pending.unanswered > 0;
      pending.unanswered = 0;
      pending.sent = false;
    }
  }

  #sendUnsent(): void {
    for (const [token, pending] of this.#pending) if (!pending.sent) this.#send(token, pending);
  }

  #sweep(): void {
    const now = performance.now();
    for (const [token, pending] of this.#pending) {
      if (pending.deadline <= now) this.#rejectOne(token, pending, "no answer in time");
      else if (pending.repeatable && now - pending.sentAt > resendAfterMs) pending.sent = false;
    }
    if (this.#pending.size === 0) {
      clearInterval(this.#sweeper);
      this.#sweeper = undefined;
    } else if (this.#link.status() === "connected") this.#sendUnsent();
  }

  #rejectAll(why: string): void {
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
    for (const [token, pending] of this.#pending) this.#rejectOne(token, pending, why);
  }

  #rejectOne(token: string, pending: Pending, why: string): void {
    this.#pending.delete(token);
    const outcome = pending.unanswered > 0 || pending.hasLostCopy ? "it is unknown whether it was stored" : "it was not stored";
    pending.reject(new Unavailable(`publishing on '${pending.subject}' failed, ${why}: ${outcome}`));
  }
}

function headerFields(options: PublishOptions): Record<string, string> | undefined {
  const { messageId, expectedLastSubjectSequence, expectedSubject, schedule, ttlSeconds, headers } = options;
  if ([messageId, expectedLastSubjectSequence, schedule, ttlSeconds, headers].every((option) => option === undefined)) return undefined;
  return {
    ...headers,
    ...(messageId === undefined ? {} : { "Nats-Msg-Id": messageId }),
    ...(expectedLastSubjectSequence === undefined ? {} : { "Nats-Expected-Last-Subject-Sequence": String(expectedLastSubjectSequence) }),
    ...(expectedSubject === undefined ? {} : { "Nats-Expected-Last-Subject-Sequence-Subject": expectedSubject }),
    ...(schedule === undefined ? {} : { "Nats-Schedule": schedule.schedule, "Nats-Schedule-Target": schedule.target }),
    ...(ttlSeconds === undefined ? {} : { "Nats-TTL": `${ttlSeconds}s` }),
    ...(schedule?.timezone === undefined ? {} : { "Nats-Schedule-Time-Zone": schedule.timezone }),
  };
}

function notSent(pending: Pending, cause: unknown): HeadwaterError {
  const bytes = typeof pending.data === "string" ? Buffer.byteLength(pending.data) : pending.data.length;
  return cause instanceof Error && cause.message.includes("max_payload")
    ? new LimitExceeded(`a message of ${bytes} bytes on '${pending.subject}' is larger than the max_payload of NATS`, { cause })
    : new Unavailable(`publishing on '${pending.subject}' failed: it was not sent`, { cause });
}
