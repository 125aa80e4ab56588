import type { EmittedEvent } from "../../domain/event/emitted-event.ts";
import { readCommit } from "../../domain/run/read-commit.ts";
import { isAskedFor, itemOfEmitted, itemsOfCommit, type CommittedItem } from "../../domain/search/committed.ts";
import { ComparedItem } from "../../domain/search/found.ts";
import type { SearchQuery } from "../../domain/search/query.ts";
import type { RunMessage } from "../streams/ports.ts";
import type { LivePosition } from "./live-frames.ts";
import type { FoundItem } from "./search.ts";

/** Cost of comparing an item, beside one for each character and word. That of reading a commit is one for each byte. */
export const costOfItem = 200;
export const costOfMatch = 600;

export interface Match {
  readonly found: Omit<FoundItem, "emitterName">;
  /** Undefined: it is of no commit. */
  readonly position: LivePosition | undefined;
}

/** What is compared with the queries of live searches: a commit, or a scheduled event that is due. It is decoded by the first of them, if any. */
export class LiveCommit {
  /** Undefined: it is not on RUNS. */
  readonly sequence: number | undefined;
  readonly bytes: number;
  readonly #decode: () => readonly CommittedItem[];
  #items: readonly ComparedItem<CommittedItem>[] | undefined;
  #characters: number | undefined;

  constructor(sequence: number | undefined, bytes: number, decode: () => readonly CommittedItem[]) {
    this.sequence = sequence;
    this.bytes = bytes;
    this.#decode = decode;
  }

  static ofMessage(message: RunMessage): LiveCommit {
    return new LiveCommit(message.sequence, message.bytes, () => {
      const commit = readCommit(message.text(), message.subject);
      return commit === undefined ? [] : itemsOfCommit(commit);
    });
  }

  static ofEmitted(event: EmittedEvent): LiveCommit {
    return new LiveCommit(undefined, Buffer.byteLength(event.payload), () => [itemOfEmitted(event)].filter((item) => item !== undefined));
  }

  get isDecoded(): boolean {
    return this.#items !== undefined;
  }

  get items(): readonly ComparedItem<CommittedItem>[] {
    return (this.#items ??= this.#decode().map((item) => new ComparedItem(item)));
  }

  /** Of all items, without that of matches. */
  costOf({ words, excluded }: SearchQuery): number {
    this.#characters ??= this.items.reduce((sum, item) => sum + charactersOf(item), 0);
    return this.items.length * costOfItem + this.#characters * (words.length + excluded.length);
  }

  /** Undefined: the item does not match. */
  match(index: number, query: SearchQuery): Match | undefined {
    const item = this.items[index];
    const found = item !== undefined && isAskedFor(item.candidate, query) ? item.find(query) : undefined;
    if (item === undefined || found === undefined) return undefined;
    const { head: _head, body: _body, ...candidate } = item.candidate;
    // A part of a string keeps the whole in memory.
    const excerpt = Buffer.from(found.excerpt, "utf16le").toString("utf16le");
    return {
      found: { ...found, excerpt, candidate },
      position: this.sequence === undefined ? undefined : { sequence: this.sequence, index },
    };
  }
}

const charactersOf = ({ candidate: { head, body } }: ComparedItem): number => (head?.length ?? 0) + (body?.length ?? 0);

export const costOf = (item: ComparedItem, { words, excluded }: SearchQuery): number =>
  costOfItem + charactersOf(item) * (words.length + excluded.length);

const known = new WeakMap<RunMessage | EmittedEvent, LiveCommit>();

/** One value for each message, so that all live searches that receive it share what is decoded. */
export const liveCommitOf = (message: RunMessage): LiveCommit => remembered(message, () => LiveCommit.ofMessage(message));
export const liveEventOf = (event: EmittedEvent): LiveCommit => remembered(event, () => LiveCommit.ofEmitted(event));

function remembered(key: RunMessage | EmittedEvent, create: () => LiveCommit): LiveCommit {
  const commit = known.get(key) ?? create();
  known.set(key, commit);
  return commit;
}
