import type { ReplayedEvent } from "../../domain/event/replay.ts";

export interface Replays {
  /** Stores the events for delivery, in order, to the listeners of that time. @throws Unavailable, LimitExceeded */
  publish(events: readonly ReplayedEvent[]): Promise<void>;
}
