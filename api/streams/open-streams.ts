import { QuotaExceeded } from "../../domain/errors.ts";
import { Budget, type BudgetEntry } from "../../domain/limits/budget.ts";
import type { EmittedEvent } from "../../domain/event/emitted-event.ts";
import type { EventStream } from "./event-stream.ts";
import type { User } from "../http/ports.ts";
import { comment, type Item } from "./frames.ts";
import type { Followed, From } from "./gap.ts";
import type { KeptSequences, RunMessage, RunMessages } from "./ports.ts";

/** Who reads a stream. */
export interface StreamReader {
  /** Whose streams are counted together, with all keys. */
  readonly user: Pick<User, "id" | "username">;
  /** Streams with the same value have the same readers, so access is checked once for all. */
  readonly reader: string;
  /** Whether the reader may still see all that it reads. */
  readonly mayRead: () => Promise<boolean>;
  /** The last line of a stream whose reader may not. */
  readonly refusal: string;
}

/** A stream of one source or workflow. */
export interface StreamRequest extends Followed, StreamReader {
  readonly from: From;
  /** Resolves when the source is deleted. */
  readonly untilGone: (signal: AbortSignal) => Promise<boolean>;
}

/** A stream of what is selected from all commits of some owners. */
export interface TailRequest extends StreamReader {
  readonly owners: readonly string[];
  /** Id of the last item that the reader received. */
  readonly after: string | undefined;
  readonly start: (stream: EventStream, runs: RunMessages) => Tail;
}

/** Selects the items of one stream, and sends them. */
export interface Tail {
  /**
   * The items before the live ones. Called once, when all commits behind `kept.last` are received.
   * @throws InvalidInput for an id that is not of the stream RUNS, Unavailable
   */
  before(kept: KeptSequences): Promise<readonly Item[]>;
  /** Must not throw. */
  receive(message: RunMessage): void;
  /** Must not throw. */
  receiveEmitted(event: EmittedEvent): void;
  /** Is called at intervals. @param sequence of the last commit of any owner that was received */
  tick(sequence: number): void;
  stop(): void;
}

export interface Open {
  readonly stream: EventStream;
  readonly reader: StreamReader;
  /** Of a tail, the ids of its owners; else the subject of the source's commits. */
  readonly keys: readonly string[];
  readonly tail?: Tail;
}

/** Steps per turn of the wheel. Writing thousands of comments at once would delay events by a tenth of a second. */
export const stepsPerTurn = 16;

/** Maximum number of open streams. */
export interface StreamLimits {
  readonly perUser: number;
  /** Beyond it, the user with the most streams loses the oldest to a user with fewer. */
  readonly total: number;
}

/** The open streams by key, by user, and by the time of their keep-alive comment. */
export class OpenStreams {
  readonly #streams: StreamSlots;
  /** They are streams too. */
  readonly #tails: StreamSlots;
  readonly #byKey = new Map<string, Set<Open>>();
  readonly #wheel: readonly Set<Open>[] = Array.from({ length: stepsPerTurn }, () => new Set());
  #joined = 0;

  constructor(streams: StreamLimits, tails: StreamLimits) {
    this.#streams = new StreamSlots("streams", streams);
    this.#tails = new StreamSlots("live searches", tails);
  }

  get isEmpty(): boolean {
    return this.#byKey.size === 0;
  }

  /** @returns an idempotent function that removes it @throws QuotaExceeded when the user has as many as allowed, or no slot is free */
  join(open: Open): () => void {
    const counted = this.#count(open);
    const spoke = this.#wheel[this.#joined++ % stepsPerTurn];
    spoke?.add(open);
    for (const key of open.keys) this.#byKey.set(key, (this.#byKey.get(key) ?? new Set<Open>()).add(open));
    return () => {
      spoke?.delete(open);
      for (const key of open.keys) this.#leave(key, open);
      for (const entry of counted) entry.release();
    };
  }

  /** Undefined when no stream follows it. */
  of(key: string): ReadonlySet<Open> | undefined {
    return this.#byKey.get(key);
  }

  /** The streams of a step: each has one of {@link stepsPerTurn} steps. */
  at(step: number): Iterable<Open> {
    return this.#wheel[step % stepsPerTurn] ?? [];
  }

  all(): readonly Open[] {
    return this.#wheel.flatMap((spoke) => [...spoke]);
  }

  #count({ stream, reader, tail }: Open): readonly BudgetEntry[] {
    const slots = tail === undefined ? [this.#streams] : [this.#tails, this.#streams];
    const counted: BudgetEntry[] = [];
    try {
      for (const kind of slots) counted.push(kind.take(reader.user, stream));
      return counted;
    } catch (error) {
      for (const entry of counted) entry.release();
      throw error;
    }
  }

  #leave(key: string, open: Open): void {
    const others = this.#byKey.get(key);
    if (others?.delete(open) === true && others.size === 0) this.#byKey.delete(key);
  }
}

/** Slots of streams of one kind. */
class StreamSlots {
  readonly #name: string;
  readonly #limits: StreamLimits;
  readonly #byUser: Budget;

  constructor(name: string, limits: StreamLimits) {
    this.#name = name;
    this.#limits = limits;
    this.#byUser = new Budget({ total: limits.total, share: limits.perUser });
  }

  /** @throws QuotaExceeded when the user has as many as allowed, or no slot is free */
  take(user: StreamReader["user"], stream: EventStream): BudgetEntry {
    const { perUser, total } = this.#limits;
    const counted = this.#byUser.open(user.id, () => {
      stream.end(comment("this stream was cut off, because another user needs the slot: open it again"));
      return true;
    });
    if (counted.take(1)) return counted;
    const open = this.#byUser.usedBy(user.id);
    const refused = open >= perUser ? { open, most: perUser } : { open: this.#byUser.used, most: total };
    const whose = open >= perUser ? ` of ${user.username}` : "";
    throw new QuotaExceeded(`${refused.open} ${this.#name}${whose} are open on this server, the limit is ${refused.most}: close some`, {
      code: "too_many_streams",
      details: refused,
    });
  }
}
