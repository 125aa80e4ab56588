import type { Commit } from "../../domain/run/commit.ts";
import { LimitExceeded, Unavailable } from "../../domain/errors.ts";
import type { RunError } from "../../domain/invocation/invocation.ts";
import { retry } from "../../domain/retry.ts";
import type { History } from "./source-commits.ts";

const maxAttempts = 3;
/** A commit waits for room in RUNS this long: if it ran again, its user code would have its effects twice. */
const roomWaitMs = 60_000;
const roomEveryMs = 500;

/**
 * Appends a run's commit; one that NATS refuses as too large is replaced by the one that `instead` makes, without anything of what the
 * run left. Otherwise the invocation would fail again and again.
 *
 * When it is not known whether a commit was stored, the same commit is sent again. It cannot be stored twice, since the second one expects
 * a sequence that has passed; the reload then shows that the invocation is answered.
 *
 * @returns what was stored; undefined when another runner extended the history first
 */
export async function appendFitting(history: History, commit: Commit, instead: (error: RunError) => Commit): Promise<Commit | undefined> {
  try {
    return await append(history, commit);
  } catch (error) {
    if (!(error instanceof LimitExceeded)) throw error;
    return append(history, instead(tooLarge(error)));
  }
}

async function append(history: History, commit: Commit): Promise<Commit | undefined> {
  const isUnanswered = (error: unknown): boolean => error instanceof Unavailable && !isFull(error);
  const append = (): Promise<boolean> => retry(() => history.append(commit), { firstMs: 0, maxAttempts, isTransient: isUnanswered });
  const isStored = await retry(append, { firstMs: roomEveryMs, withinMs: roomWaitMs, isTransient: isFull });
  return isStored ? commit : undefined;
}

const isFull = (error: unknown): boolean => error instanceof Unavailable && error.code === "store_full";

function tooLarge({ message }: LimitExceeded): RunError {
  return {
    name: "LimitError",
    code: "commit_too_large",
    message: `what this run emitted, logged and wrote to its db is not kept: ${message}`,
  };
}
