import type { Clock } from "../../domain/clock.ts";
import type { Answer } from "../../domain/invocation/invocation.ts";
import { partitionCount } from "../../domain/subjects.ts";
import { CommitBudget } from "../commit/commit-budget.ts";
import type { CommitStore, ProcessedCommits } from "../commit/ports.ts";
import type { Log } from "../../domain/log.ts";
import type { BlockReason, QuotaStore } from "./ports.ts";
import { QuotaCache } from "./quota-cache.ts";
import type { SourceQueues } from "./source-queues.ts";

interface BlockedOwnersPorts {
  readonly quotas: QuotaStore;
  readonly processed?: ProcessedCommits;
  readonly clock: Clock;
  readonly log: Log;
}

const defaultMaxOwnerCommitBytes = 64 * 2 ** 20;
const allProcessed = { upTo: () => Promise.resolve(Array.from({ length: partitionCount }, () => Number.POSITIVE_INFINITY)) };

/**
 * Decides which owners are blocked. A blocked owner's work stays queued, except urgent work.
 *
 * | reason | blocked while | requests whose callers wait get |
 * |---|---|---|
 * | `owner_quota` | the owner's daily quota is used up | 429 `quota_exceeded` |
 * | `owner_commits` | delivery has too many bytes of the owner's commits to process | 503 `deliveries_behind` |
 */
export class BlockedOwners {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #quotas: QuotaCache;
  readonly #budget: CommitBudget;
  #queues: Pick<SourceQueues, "block" | "unblock"> | undefined;

  constructor({ quotas, processed, clock, log }: BlockedOwnersPorts, maxOwnerBytes: number = defaultMaxOwnerCommitBytes) {
    this.#clock = clock;
    this.#log = log;
    this.#quotas = new QuotaCache(quotas, clock, (owner, untilMs) => this.#onQuotaChange(owner, untilMs));
    this.#budget = new CommitBudget(processed ?? allProcessed, {
      maxOwnerBytes,
      onChange: (owner, isOver) => this.#onBudgetChange(owner, isOver),
    });
  }

  /** Blocks and unblocks owners in these queues from now on. */
  start(queues: Pick<SourceQueues, "block" | "unblock">): Promise<void> {
    this.#queues = queues;
    return this.#quotas.start();
  }

  async stop(): Promise<void> {
    this.#budget.stop();
    await this.#quotas.stop();
  }

  /** Returns the owner once it is known whether the owner is over quota. Synchronous when it already is. */
  whenLoaded(owner: string | undefined | Promise<string | undefined>): string | undefined | Promise<string | undefined> {
    return this.#quotas.whenLoaded(owner);
  }

  /** Wraps a commit store so that its commits count towards their owners' budgets. */
  counting(commits: CommitStore): CommitStore {
    return this.#budget.counting(commits);
  }

  /** Whether a quota has held back an invocation of the owner that was stored at this time and runs now. */
  hasHeldBack(owner: string, storedAtMs: number): boolean {
    return this.#quotas.hasHeldBack(owner, storedAtMs);
  }

  /** The response to a request of a blocked owner whose caller waits: a run hours later would come too late. */
  refusalOf(owner: string): Answer {
    const leftMs = this.#quotas.blockedUntil(owner) - this.#clock.now();
    return leftMs > 0 ? quotaRefusal(leftMs) : commitsRefusal;
  }

  #onQuotaChange(owner: string, untilMs: number | undefined): void {
    const fields = { "owner.id": owner, reason: "owner_quota" satisfies BlockReason };
    if (untilMs === undefined) this.#log.info({ op: "owner.resume", ...fields }, "an owner is within quota again: queued work runs");
    else this.#log.warn({ op: "owner.park", ...fields, until: untilMs }, "an owner has used up the daily quota: its work stays queued");
    this.#blockOrUnblock(owner);
  }

  #onBudgetChange(owner: string, isOver: boolean): void {
    const fields = { "owner.id": owner, reason: "owner_commits" satisfies BlockReason };
    if (isOver)
      this.#log.warn({ op: "owner.park", ...fields }, "delivery is behind with an owner's commits: no further run of the owner starts");
    else this.#log.info({ op: "owner.resume", ...fields }, "delivery has caught up with an owner's commits: its runs start again");
    this.#blockOrUnblock(owner);
  }

  #blockOrUnblock(owner: string): void {
    const reason = this.#reasonOf(owner);
    if (reason === undefined) this.#queues?.unblock(owner);
    else this.#queues?.block(owner, reason);
  }

  #reasonOf(owner: string): BlockReason | undefined {
    if (this.#quotas.blockedUntil(owner) > this.#clock.now()) return "owner_quota";
    return this.#budget.isOver(owner) ? "owner_commits" : undefined;
  }
}

function quotaRefusal(leftMs: number): Answer {
  const seconds = Math.max(1, Math.ceil(leftMs / 1_000));
  const error = `the owner of this endpoint has used up the daily quota: retry after ${seconds} s`;
  return refusal(429, seconds, { error, code: "quota_exceeded" });
}

const commitsRefusal = refusal(503, 5, {
  error: "too many events of this endpoint's owner wait to be delivered and recorded: retry after 5 s",
  code: "deliveries_behind",
});

function refusal(status: number, retryAfterSeconds: number, body: { readonly error: string; readonly code: string }): Answer {
  const headers = { "content-type": "application/json", "retry-after": String(retryAfterSeconds) };
  return { kind: "response", response: { status, headers, body: JSON.stringify(body) } };
}
