import type { Invocation } from "../domain/invocation.ts";
import type { Queued } from "./intake/backlog.ts";
import type { Received } from "./run.ts";

/** `done`: answered or dropped, never deliver it again. `left`: to the next runner that reads its partition. */
export type Disposition = "done" | "left";

/** `failed`: try again, before anything else of the source. */
export type Answer = "done" | "failed";

/** An invocation that waits for its turn. */
export interface Waiting {
  readonly received: Omit<Received, "skippedTicks">;
  /** Of its message, about. */
  readonly bytes: number;
  readonly settle: (disposition: Disposition) => void;
}

export const queuedOf = ({ received: { invocation }, bytes }: Waiting, owner: string): Queued => ({
  source: invocation.source,
  owner,
  bytes,
});

/** A link of a chain must run: it arms the next one. */
export const isPlainTick = ({ received: { invocation } }: Waiting): boolean =>
  invocation.trigger === "timer" && invocation.chain === undefined;

/** What the system asks of a source, and what leaves nothing, runs whatever its owner has used up. */
export const isUrgent = ({ received: { invocation } }: Waiting): boolean => urgent.includes(invocation.trigger);
const urgent: readonly Invocation["trigger"][] = ["hook", "configure", "dry-run"];

/** Somebody holds a connection open for the source's answer. */
export const isAwaited = ({ received: { invocation } }: Waiting): boolean =>
  invocation.trigger === "http" && invocation.answerTo !== undefined;
