import { setTimeout as sleep } from "node:timers/promises";
import type { Commit } from "../../domain/run/commit.ts";
import { LimitExceeded, Unavailable } from "../../domain/errors.ts";
import type { RunError } from "../../domain/invocation/invocation.ts";
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
  const roomUntil = performance.now() + roomWaitMs;
  let fitting = commit;
  for (let attempt = 1; ; attempt++) {
    try {
      return (await history.append(fitting)) ? fitting : undefined;
    } catch (error) {
      if (error instanceof LimitExceeded && fitting === commit) {
        fitting = instead(tooLarge(error));
        continue;
      }
      if (!(error instanceof Unavailable)) throw error;
      const isFull = error.code === "store_full";
      if (isFull ? performance.now() > roomUntil : attempt >= maxAttempts) throw error;
      if (isFull) await sleep(roomEveryMs);
    }
  }
}

function tooLarge({ message }: LimitExceeded): RunError {
  return {
    name: "LimitError",
    code: "commit_too_large",
    message: `what this run emitted, logged and wrote to its db is not kept: ${message}`,
  };
}
