import type { Invocation } from "../domain/invocation.ts";
import type { Standing } from "./overflow.ts";
import type { Received } from "./run.ts";
import type { Shared } from "./shares.ts";

/** `done` means answered or dropped: never deliver it again. `later` means: deliver it again after a while. */
export type Disposition = "done" | "later";

/** `aside` means: it is laid aside in the stream, and is handed out by whoever takes it up from there. */
export type Settlement = Disposition | "aside";

/** What there is to tell of a queue. */
export interface QueueWatch {
  /** An owner's share is used up: what more there is of this source waits in the stream. */
  parked(source: string, owner: string): void;
  resumed(source: string, owner: string): void;
}

/** An invocation that waits for its turn. */
export interface Waiting {
  readonly received: Omit<Received, "skippedTicks">;
  /** Of its message, about. */
  readonly bytes: number;
  /** It lay aside and was taken up, or was handed out before and is here: whatever the shares say, it stays. Absent: no. */
  readonly isKept?: boolean;
  /** `delayMs`: after which while, asked when its whole message goes back. */
  readonly settle: (settlement: Settlement, delayMs?: () => number) => void;
}

export const sharedOf = ({ received: { invocation, position }, bytes }: Waiting, owner: string): Shared => ({
  source: invocation.source,
  owner,
  position,
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

export const standingOf = (entry: Waiting, isParked: boolean): Standing => ({
  isKept: entry.isKept === true,
  goesBefore: isUrgent(entry) || isPlainTick(entry),
  isParked,
});
