import { QuotaExceeded } from "../../domain/errors.ts";
import { Budget, type BudgetEntry } from "../../domain/limits/budget.ts";
import type { EventStream } from "./event-stream.ts";
import type { User } from "../http/ports.ts";
import { comment } from "./frames.ts";
import type { Followed, From } from "./gap.ts";

export interface StreamRequest extends Followed {
  readonly from: From;
  /** Whose streams are counted together, with all keys. */
  readonly user: Pick<User, "id" | "username">;
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

/** Maximum number of open streams. */
export interface StreamLimits {
  readonly perUser: number;
  /** Beyond it, the user with the most streams loses the oldest to a user with fewer. */
  readonly total: number;
}

/** The open streams by subject, by user, and by the time of their keep-alive comment. */
export class OpenStreams {
  readonly #limits: StreamLimits;
  readonly #byUser: Budget;
  readonly #bySubject = new Map<string, Set<Open>>();
  readonly #wheel: readonly Set<Open>[] = Array.from({ length: stepsPerTurn }, () => new Set());
  #joined = 0;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
    this.#byUser = new Budget({ total: limits.total, share: limits.perUser });
  }

  get isEmpty(): boolean {
    return this.#bySubject.size === 0;
  }

  /** @returns an idempotent function that removes it @throws QuotaExceeded when the user has as many as allowed, or no place is free */
  join(open: Open): () => void {
    const { subject } = open.request;
    const counted = this.#count(open);
    const spoke = this.#wheel[this.#joined++ % stepsPerTurn];
    spoke?.add(open);
    const others = this.#bySubject.get(subject) ?? new Set();
    this.#bySubject.set(subject, others.add(open));
    return () => {
      if (!others.delete(open)) return;
      spoke?.delete(open);
      if (others.size === 0) this.#bySubject.delete(subject);
      counted.release();
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

  #count({ stream, request: { user } }: Open): BudgetEntry {
    const { perUser, total } = this.#limits;
    const counted = this.#byUser.open(user.id, () => {
      stream.end(comment("this stream was cut off, because another user needs the place: open it again"));
      return true;
    });
    if (counted.take(1)) return counted;
    const open = this.#byUser.usedBy(user.id);
    const refused = open >= perUser ? { open, most: perUser } : { open: this.#byUser.used, most: total };
    const whose = open >= perUser ? ` of ${user.username}` : "";
    throw new QuotaExceeded(`${refused.open} streams${whose} are open on this server, the limit is ${refused.most}: close some`, {
      code: "too_many_streams",
      details: refused,
    });
  }
}
