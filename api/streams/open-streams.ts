import { QuotaExceeded } from "../../domain/errors.ts";
import type { EventStream } from "./event-stream.ts";
import type { Followed, From } from "./gap.ts";

export interface StreamRequest extends Followed {
  readonly from: From;
  /** Whose streams are counted together: the API key, in whatever form. */
  readonly key: string;
  /** Streams with the same text may be read by the same callers: they are looked after together. */
  readonly reader: string;
  /** May the reader still see the source? */
  readonly mayRead: () => Promise<boolean>;
  /** Resolves when the source is gone. */
  readonly untilGone: (signal: AbortSignal) => Promise<boolean>;
}

export interface Open {
  readonly stream: EventStream;
  readonly request: StreamRequest;
}

/** A turn of the wheel in so many steps: thousands of comments written at once would hold up events for a tenth of a second. */
export const stepsPerTurn = 16;

/** The streams that are open: by what they follow, by whose key they are, and by when they get their comment. */
export class OpenStreams {
  readonly #perKey: number;
  readonly #bySubject = new Map<string, Set<Open>>();
  readonly #byKey = new Map<string, number>();
  readonly #wheel: readonly Set<Open>[] = Array.from({ length: stepsPerTurn }, () => new Set());
  #joined = 0;

  /** @param perKey how many one API key may have open */
  constructor(perKey: number) {
    this.#perKey = perKey;
  }

  get isEmpty(): boolean {
    return this.#bySubject.size === 0;
  }

  /** @returns what takes it out again, however often it is called. @throws QuotaExceeded when the key has as many as it may */
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

  /** Undefined when nobody follows it. */
  of(subject: string): ReadonlySet<Open> | undefined {
    return this.#bySubject.get(subject);
  }

  /** Those whose turn it is: each comes once in {@link stepsPerTurn} steps. */
  at(step: number): Iterable<Open> {
    return this.#wheel[step % stepsPerTurn] ?? [];
  }

  all(): readonly Open[] {
    return this.#wheel.flatMap((spoke) => [...spoke]);
  }

  #count(key: string): void {
    const open = this.#byKey.get(key) ?? 0;
    if (open >= this.#perKey)
      throw new QuotaExceeded(
        `${open} streams are open with this API key, and at most ${this.#perKey} may be: close some, or use another key for more`,
        { code: "too_many_streams", details: { open, most: this.#perKey } },
      );
    this.#byKey.set(key, open + 1);
  }

  #discount(key: string): void {
    const left = (this.#byKey.get(key) ?? 1) - 1;
    if (left === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, left);
  }
}
