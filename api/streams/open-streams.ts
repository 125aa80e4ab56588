import { QuotaExceeded } from "../../domain/errors.ts";
import type { EventStream } from "./event-stream.ts";
import type { Followed, From } from "./gap.ts";

export interface StreamRequest extends Followed {
  readonly from: From;
  /** API key, whose streams are counted together. */
  readonly key: string;
  /** Streams with the same value have the same readers, so access is checked once for all. */
  readonly reader: string;
  /** Whether the reader may still see the source. */
  readonly mayRead: () => Promise<boolean>;
  /** Resolves when the source is deleted. */
  readonly untilGone: (signal: AbortSignal) => Promise<boolean>;
}

export interface Open {
  readonly stream: EventStream;
  readonly request: StreamRequest;
}

/** Steps per turn of the wheel. Writing thousands of comments at once would delay events by a tenth of a second. */
export const stepsPerTurn = 16;

/** The open streams by subject, by API key, and by the time of their keep-alive comment. */
export class OpenStreams {
  readonly #perKey: number;
  readonly #bySubject = new Map<string, Set<Open>>();
  readonly #byKey = new Map<string, number>();
  readonly #wheel: readonly Set<Open>[] = Array.from({ length: stepsPerTurn }, () => new Set());
  #joined = 0;

  /** @param perKey maximum open streams of one API key */
  constructor(perKey: number) {
    this.#perKey = perKey;
  }

  get isEmpty(): boolean {
    return this.#bySubject.size === 0;
  }

  /** @returns an idempotent function that removes it @throws QuotaExceeded when the key is at its limit */
  join(open: Open): () => void {
    const { subject, key } = open.request;
    this.#count(key);
    const spoke = this.#wheel[this.#joined++ % stepsPerTurn];
    spoke?.add(open);
    const others = this.#bySubject.get(subject) ?? new Set();
    this.#bySubject.set(subject, others.add(open));
    return () => {
      if (!others.delete(open)) return;
      spoke?.delete(open);
      if (others.size === 0) this.#bySubject.delete(subject);
      this.#discount(key);
    };
  }

  /** Undefined when no stream follows it. */
  of(subject: string): ReadonlySet<Open> | undefined {
    return this.#bySubject.get(subject);
  }

  /** The streams of a step: each has one of {@link stepsPerTurn} steps. */
  at(step: number): Iterable<Open> {
    return this.#wheel[step % stepsPerTurn] ?? [];
  }

  all(): readonly Open[] {
    return this.#wheel.flatMap((spoke) => [...spoke]);
  }

  #count(key: string): void {
    const open = this.#byKey.get(key) ?? 0;
    if (open >= this.#perKey)
      throw new QuotaExceeded(`${open} streams are open with this API key, the limit is ${this.#perKey}: close some, or use another key`, {
        code: "too_many_streams",
        details: { open, most: this.#perKey },
      });
    this.#byKey.set(key, open + 1);
  }

  #discount(key: string): void {
    const left = (this.#byKey.get(key) ?? 1) - 1;
    if (left === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, left);
  }
}
