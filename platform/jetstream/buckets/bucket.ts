import { Unavailable } from "../../../domain/errors.ts";
import { isMessageNotFound } from "../connection/errors.ts";
import type { Connection } from "../connection/connection.ts";
import { followFrom } from "../read/follow.ts";
import type { Stoppable } from "../connection/link.ts";
import type { StreamMessage } from "../read/stream-message.ts";

export interface BucketWatch<T> {
  /** Begins with every existing entry; otherwise only changes are reported. */
  readonly initial: boolean;
  /** Called in the order of changes; `undefined` when the entry was deleted or has expired. Must not throw. */
  readonly onEntry: (key: string, value: T | undefined, revision: number) => void;
  readonly onInterrupted?: (reason: string) => void;
}

export interface KeyWatch {
  readonly initial: boolean;
  /** Called when the entry of the key was written, deleted or has expired. */
  readonly onKey: (key: string, revision: number) => void;
  readonly onInterrupted?: (reason: string) => void;
}

export interface PutOptions {
  /** The entry expires after this time; whole seconds. */
  readonly ttlSeconds?: number;
  /** Put only if the entry has this revision; 0: if there is none. @throws WrongLastSequence */
  readonly expectedRevision?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** How long the marker of a deletion is kept for watchers that were disconnected. */
const deletionTtl = "24h";

/** A key-value bucket of JSON entries. Keys: letters, digits, `-`, `_`, `=`, `/` and `.`. A revision grows with each change in the bucket. */
export class Bucket<T> {
  readonly #connection: Connection;
  readonly #name: string;
  readonly #parse: (json: unknown) => T;

  /** `parse` turns an entry's JSON into a value, or throws. */
  constructor(connection: Connection, name: string, parse: (json: unknown) => T) {
    this.#connection = connection;
    this.#name = name;
    this.#parse = parse;
  }

  /** @throws Unavailable */
  async get(key: string): Promise<T | undefined> {
    return (await this.read(key)).value;
  }

  /** `revision`: of the entry or of its deletion; 0 if the key was never written. @throws Unavailable */
  async read(key: string): Promise<{ readonly value: T | undefined; readonly revision: number }> {
    const reading = this.#connection.manager.direct.getMessage(this.#stream, { last_by_subj: this.#subject(key) });
    const message = await reading.catch((cause: unknown) => {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new Unavailable(`an entry of ${this.#name} cannot be read from NATS: ${why}`, { cause });
    });
    if (message === null) return { value: undefined, revision: 0 };
    return { value: isDeletion(message.header) ? undefined : this.#parse(message.json()), revision: message.seq };
  }

  /** Existing entries by key, for keys that match a filter such as `pool.>`. Needs a consumer, see {@link readAll}. */
  async list(keys: string): Promise<ReadonlyMap<string, T>> {
    const found = new Map<string, T>();
    const prefix = this.#subject("").length;
    const following = await followFrom({
      connection: this.#connection,
      stream: this.#stream,
      from: "new",
      lastPerSubject: true,
      filter: this.#subject(keys),
      onMessage: (message) => {
        this.#add(found, message.subject.slice(prefix), message);
      },
    });
    await following.caughtUp;
    await following.stop();
    return found;
  }

  /** Existing keys that match a filter, like {@link readAll}. */
  async keys(filter: string): Promise<readonly string[]> {
    return [...(await this.readAll(filter)).keys()];
  }

  /** Existing entries by key, for keys that match a filter. Needs no consumer; NATS returns at most 1,024. */
  async readAll(filter: string): Promise<ReadonlyMap<string, T>> {
    const prefix = this.#subject("").length;
    const found = new Map<string, T>();
    try {
      const query = { multi_last: [this.#subject(filter)] };
      for await (const message of await this.#connection.manager.direct.getLastMessagesFor(this.#stream, query))
        this.#add(found, message.subject.slice(prefix), { headers: message.header, text: () => message.string() });
    } catch (error) {
      if (!isMessageNotFound(error)) throw error; // No entry matches.
    }
    return found;
  }

  /** Resolves with the revision once NATS has stored it. @throws Unavailable, WrongLastSequence */
  async put(key: string, value: T, options: PutOptions = {}): Promise<number> {
    const { ttlSeconds, expectedRevision, headers } = options;
    const published = await this.#connection.publisher.publish(this.#subject(key), JSON.stringify(value), {
      ...(ttlSeconds === undefined && headers === undefined
        ? {}
        : { headers: { ...headers, ...(ttlSeconds === undefined ? {} : { "Nats-TTL": `${ttlSeconds}s` }) } }),
      ...(expectedRevision === undefined ? {} : { expectedLastSubjectSequence: expectedRevision }),
    });
    return published.seq;
  }

  /** Resolves with the revision of the deletion. @throws Unavailable */
  async delete(key: string, { expectedRevision }: Pick<PutOptions, "expectedRevision"> = {}): Promise<number> {
    const published = await this.#connection.publisher.publish(this.#subject(key), "", {
      headers: { "KV-Operation": "DEL", "Nats-TTL": deletionTtl },
      ...(expectedRevision === undefined ? {} : { expectedLastSubjectSequence: expectedRevision }),
    });
    return published.seq;
  }

  /** Resolves when the existing entries have been reported; continues across interruptions until stopped. */
  watch({ initial, onEntry, onInterrupted }: BucketWatch<T>): Promise<Stoppable> {
    return this.#follow({ initial, onInterrupted, headersOnly: false }, (key, message) =>
      onEntry(key, this.#valueOf(message), message.seq),
    );
  }

  /** Like {@link watch} without values, for large buckets whose entries are read one by one. */
  watchKeys({ initial, onKey, onInterrupted }: KeyWatch): Promise<Stoppable> {
    return this.#follow({ initial, onInterrupted, headersOnly: true }, (key, message) => onKey(key, message.seq));
  }

  async #follow(
    options: { initial: boolean; headersOnly: boolean; onInterrupted: ((reason: string) => void) | undefined },
    onMessage: (key: string, message: StreamMessage) => void,
  ): Promise<Stoppable> {
    const { initial, headersOnly, onInterrupted } = options;
    const prefix = this.#subject("").length;
    const following = await followFrom({
      connection: this.#connection,
      stream: this.#stream,
      from: "new",
      lastPerSubject: initial,
      headersOnly,
      ...(onInterrupted === undefined ? {} : { onInterrupted }),
      onMessage: (message) => onMessage(message.subject.slice(prefix), message),
    });
    if (initial) await following.caughtUp;
    return following;
  }

  #add(found: Map<string, T>, key: string, message: Entry): void {
    const value = this.#valueOf(message);
    if (value !== undefined) found.set(key, value);
  }

  /** An entry that cannot be parsed was written by a newer version, or by a runner that user code controls, and counts as absent. */
  #valueOf(message: Entry): T | undefined {
    if (isDeletion(message.headers)) return undefined;
    try {
      return this.#parse(JSON.parse(message.text()));
    } catch {
      return undefined;
    }
  }

  get #stream(): string {
    return `KV_${this.#name}`;
  }

  #subject(key: string): string {
    return `$KV.${this.#name}.${key}`;
  }
}

interface Entry {
  readonly headers: { has(name: string): boolean } | undefined;
  readonly text: () => string;
}

/** The entry was deleted by a client, or expired. */
export function isDeletion(headers: { has(name: string): boolean } | undefined): boolean {
  return headers !== undefined && (headers.has("KV-Operation") || headers.has("Nats-Marker-Reason"));
}
