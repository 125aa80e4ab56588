import type { Invocation } from "../../domain/invocation/invocation.ts";
import type { Received } from "../run/run.ts";

/** `done`: committed or dropped, never deliver it again. `left`: to the next runner that reads its partition. */
export type Disposition = "done" | "left";

/** `failed`: try again, before anything else of the source. */
export type Answer = "done" | "failed";

/** An invocation that waits for its turn. */
export interface Waiting {
  readonly received: Omit<Received, "skippedTicks" | "failures">;
  /** How often it has failed. */
  failures?: number;
  /** Its share of the bytes of its message. */
  readonly bytes: number;
  readonly settle: (disposition: Disposition) => void;
}

/** A link of a chain must run: it arms the next one. */
export const isPlainTick = ({ received: { invocation } }: Waiting): boolean =>
  invocation.trigger === "timer" && invocation.chain === undefined;

/** Deployments and callers of the API wait for these: they run before other work, and whatever quota is used up. */
export const isUrgent = ({ received: { invocation } }: Waiting): boolean => urgent.includes(invocation.trigger);
const urgent: readonly Invocation["trigger"][] = ["hook", "configure", "dry-run"];

/** A caller holds a connection open for the source's response. */
export const isAwaited = ({ received: { invocation } }: Waiting): boolean =>
  invocation.trigger === "http" && invocation.answerTo !== undefined;
