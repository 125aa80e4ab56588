import type { Msg } from "@nats-io/transport-node";
import { type HeadwaterError, LimitExceeded, Unavailable } from "../../../domain/errors.ts";
import { EncodedHeaders } from "./encoded-headers.ts";
import type { Link, LinkStatus } from "../connection/link.ts";
import { refusal, type ApiError } from "../connection/errors.ts";

export interface PublishOptions {
  /** Within the stream's duplicate window (120 s) a second message with this id is not stored. */
  readonly messageId?: string;
  /** 0: the subject must hold nothing. */
  readonly expectedLastSubjectSequence?: number;
  /** The subject of that sequence; the message's own when absent. */
  readonly expectedSubject?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly schedule?: MessageSchedule;
  readonly timeoutMs?: number;
}

/** The server publishes the message's body on `target`, a subject of the same stream, whenever the schedule says. */
export interface MessageSchedule {
  /** `@every 5s`, `@at <RFC 3339>`, or cron with six fields. */
  readonly schedule: string;
  readonly target: string;
  readonly timezone?: string;
}

export interface Published {
  readonly seq: number;
  /** The message id was known: nothing was stored, `seq` is the message's first one. */
  readonly duplicate: boolean;
}

interface Waiting {
  readonly subject: string;
  readonly data: Uint8Array | string;
  readonly headers: EncodedHeaders | undefined;
  readonly expected: number | undefined;
  /** Sending it twice does no harm: the server recognizes it by its id or its expected sequence. */
  readonly repeatable: boolean;
  readonly deadline: number;
  sent: boolean;
  readonly resolve: (published: Published) => void;
  readonly reject: (error: HeadwaterError) => void;
}

const defaultTimeoutMs = 10_000;
const sweepEveryMs = 100;

/**
 * Publishes into streams: one inbox subscription and a map of waiting tokens in place of a request each, a fifth of the cost of the
 * client's own `publish`. While the server is away messages wait here until their time is up. What was under way when the connection
 * broke is sent again if that is harmless, else rejected at once: nobody knows whether it was stored.
 */
export class Publisher {
  readonly #link: Link;
  readonly #waiting = new Map<string, Waiting>();
  #inbox = "";
  #number = 0;
  #sweeper: NodeJS.Timeout | undefined;
  #endStatus: (() => void) | undefined;

  constructor(link: Link) {
    this.#link = link;
  }

  start(): void {
    this.#inbox = this.#link.newInbox();
    this.#link.nats.subscribe(`${this.#inbox}.*`, { callback: (_error, message) => this.#onAnswer(message) });
    this.#endStatus = this.#link.onStatus((status) => this.#onStatus(status));
  }

  /** Rejects what still waits. */
  stop(): void {
    this.#endStatus?.();
    this.#rejectAll("closed");
  }

  /**
   * Resolves when the server has stored the message as durably as the stream demands.
   * @throws WrongLastSequence; Unavailable when it is not known whether it was stored; InvalidInput when the server refuses its form; LimitExceeded
   */
  publish(subject: string, data: string | Uint8Array, options: PublishOptions = {}): Promise<Published> {
    return new Promise((resolve, reject) => {
      const fields = headerFields(options);
      const expected = options.expectedLastSubjectSequence;
      const token = (this.#number++).toString(36);
      const waiting: Waiting = {
        subject,
        data,
        headers: fields === undefined ? undefined : new EncodedHeaders(fields),
        expected,
        repeatable: options.messageId !== undefined || expected !== undefined,
        deadline: performance.now() + (options.timeoutMs ?? defaultTimeoutMs),
        sent: false,
        resolve,
        reject,
      };
      if (this.#link.status() === "closed") return reject(new Unavailable(`publishing on '${subject}' failed: the connection is closed`));
      this.#waiting.set(token, waiting);
      this.#sweeper ??= setInterval(() => this.#sweep(), sweepEveryMs);
      if (this.#link.status() === "connected") this.#send(token, waiting);
    });
  }

  #send(token: string, waiting: Waiting): void {
    const reply = `${this.#inbox}.${token}`;
    try {
      this.#link.nats.publish(
        waiting.subject,
        waiting.data,
        waiting.headers === undefined ? { reply } : { reply, headers: waiting.headers },
      );
      waiting.sent = true;
    } catch (cause) {
      this.#waiting.delete(token);
      waiting.reject(notSent(waiting, cause));
    }
  }

  #onAnswer(message: Msg): void {
    const token = message.subject.slice(this.#inbox.length + 1);
    const waiting = this.#waiting.get(token);
    if (waiting === undefined) return;
    if (message.data.length === 0) {
      // Nobody listens for the stream: it is starting or electing a leader. Nothing was stored; the sweep sends again.
      waiting.sent = false;
      return;
    }
    this.#waiting.delete(token);
    const answer = JSON.parse(message.string()) as { seq?: number; duplicate?: boolean; error?: ApiError }; // from the server, by its protocol
    if (answer.error !== undefined) waiting.reject(refusal(waiting.subject, waiting.expected, answer.error));
    else waiting.resolve({ seq: answer.seq ?? 0, duplicate: answer.duplicate === true });
  }

  #onStatus(status: LinkStatus): void {
    if (status === "closed") return this.#rejectAll("closed");
    if (status === "connected") return this.#sendUnsent();
    for (const [token, waiting] of this.#waiting) {
      if (waiting.sent && !waiting.repeatable) this.#rejectOne(token, waiting, "the connection broke");
      else waiting.sent = false;
    }
  }

  #sendUnsent(): void {
    for (const [token, waiting] of this.#waiting) if (!waiting.sent) this.#send(token, waiting);
  }

  #sweep(): void {
    const now = performance.now();
    for (const [token, waiting] of this.#waiting) if (waiting.deadline <= now) this.#rejectOne(token, waiting, "no answer in time");
    if (this.#waiting.size === 0) {
      clearInterval(this.#sweeper);
      this.#sweeper = undefined;
    } else if (this.#link.status() === "connected") this.#sendUnsent();
  }

  #rejectAll(why: string): void {
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
    for (const [token, waiting] of this.#waiting) this.#rejectOne(token, waiting, why);
  }

  #rejectOne(token: string, waiting: Waiting, why: string): void {
    this.#waiting.delete(token);
    const outcome = waiting.sent ? "it is not known whether it was stored" : "it was not stored";
    waiting.reject(new Unavailable(`publishing on '${waiting.subject}' failed, ${why}: ${outcome}`));
  }
}

function headerFields(options: PublishOptions): Record<string, string> | undefined {
  const { messageId, expectedLastSubjectSequence, expectedSubject, schedule, headers } = options;
  if (messageId === undefined && expectedLastSubjectSequence === undefined && schedule === undefined && headers === undefined)
    return undefined;
  return {
    ...headers,
    ...(messageId === undefined ? {} : { "Nats-Msg-Id": messageId }),
    ...(expectedLastSubjectSequence === undefined ? {} : { "Nats-Expected-Last-Subject-Sequence": String(expectedLastSubjectSequence) }),
    ...(expectedSubject === undefined ? {} : { "Nats-Expected-Last-Subject-Sequence-Subject": expectedSubject }),
    ...(schedule === undefined ? {} : { "Nats-Schedule": schedule.schedule, "Nats-Schedule-Target": schedule.target }),
    ...(schedule?.timezone === undefined ? {} : { "Nats-Schedule-Time-Zone": schedule.timezone }),
  };
}

function notSent(waiting: Waiting, cause: unknown): HeadwaterError {
  const bytes = typeof waiting.data === "string" ? Buffer.byteLength(waiting.data) : waiting.data.length;
  return cause instanceof Error && cause.message.includes("max_payload")
    ? new LimitExceeded(`a message of ${bytes} bytes on '${waiting.subject}' is larger than the message server's max_payload`, { cause })
    : new Unavailable(`publishing on '${waiting.subject}' failed: it was not sent`, { cause });
}
