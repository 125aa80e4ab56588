import type { Invocation } from "../domain/invocation.ts";
import type { RunAhead } from "./ahead.ts";
import type { RunLimits } from "./fair-order.ts";
import type { Backlog } from "./intake/backlog.ts";
import type { Received } from "./run.ts";
import type { Answer, Waiting } from "./waiting.ts";

export interface QueueOptions {
  readonly limits: RunLimits;
  /** Counts what waits here. */
  readonly backlog: Backlog;
  /** Whose run it will be; undefined when nobody's, since its source is gone. At once when it is known. */
  readonly ownerOf: (received: Waiting["received"]) => string | undefined | Promise<string | undefined>;
  /** Turns errors into `failed`; never rejects. */
  readonly answer: (received: Received) => Promise<Answer>;
  /** Absent: nothing is run before its turn. */
  readonly runAhead?: RunAhead;
  /** Answers whoever waits for what does not run, since its owner's quota is used up; it is settled then. */
  readonly refuse?: (invocation: Invocation, owner: string) => void;
  /** Above 0; absent: all owners weigh 1. */
  readonly weightOf?: (owner: string) => number;
  /** ms, from anywhere; never goes back. */
  readonly now: () => number;
}
