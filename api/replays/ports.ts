import type { ReplayedEvent } from "../../domain/replay.ts";

export interface Replays {
  /** Has these delivered once more, in their order, to those who listen then. Resolves when all are stored. @throws Unavailable, LimitExceeded */
  publish(events: readonly ReplayedEvent[]): Promise<void>;
}
