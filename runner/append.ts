import { setTimeout as sleep } from "node:timers/promises";
import type { Commit } from "../domain/commit.ts";
import { LimitExceeded, Unavailable } from "../domain/errors.ts";
import type { RunError } from "../domain/invocation.ts";
import type { History } from "./history.ts";

/**
 * Appends a run's commit, or, when the message server takes no message of that size, one that says so: else the invocation would come
 * again and again. `instead` makes it, without anything of what the run left.
 * @returns what was stored; undefined when somebody else extended the history first
 */
export async function appendFitting(history: History, commit: Commit, instead: (error: RunError) => Commit): Promise<Commit | undefined> {
  try {
    return (await appendSurely(history, commit)) ? commit : undefined;
  } catch (error) {
    if (!(error instanceof LimitExceeded)) throw error;
    const small = instead(tooLarge(error));
    return (await appendSurely(history, small)) ? small : undefined;
  }
}

function tooLarge({ message }: LimitExceeded): RunError {
  return {
    name: "LimitError",
    code: "commit_too_large",
    message: `what this run emitted, logged and wrote to its db is not kept: ${message}`,
  };
}

/** A commit waits so long for room in RUNS: run again, its user code would have its effects twice. */
const roomWaitMs = 60_000;
const roomEveryMs = 500;

/**
 * When it is not known whether the commit was stored, the same commit is sent again: stored twice it cannot be, since the
 * second one expects a sequence that has passed; then the reload shows that the invocation is answered.
 */
async function appendSurely(history: History, commit: Commit): Promise<boolean> {
  const roomUntil = performance.now() + roomWaitMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await history.append(commit);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      const isFull = error.code === "store_full";
      if (isFull ? performance.now() > roomUntil : attempt >= 3) throw error;
      if (isFull) await sleep(roomEveryMs);
    }
  }
}
