import type { TraceContext } from "./traces.ts";
import { partitionOf } from "./partition.ts";
import { replayLaneCount } from "./subjects.ts";

/** A past event that is to be delivered once more: a message of the stream DELIVERIES, from the API to the delivery role. */
export interface ReplayedEvent extends TraceContext {
  readonly replay: Replay;
  /** Stable, and another one than the first time: whoever drops what they know by its id is to take it. */
  readonly emitId: string;
  readonly eventId: string;
  readonly source: string;
  readonly owner: string;
  /** "" is the default channel. */
  readonly channel: string;
  /** Epoch ms. */
  readonly ts: number;
  /** JSON text. */
  readonly payload: string;
  /** The id given to `$emit`; absent: none. */
  readonly dedupeId?: string;
  readonly summary?: string;
}

/** What tells a replayed event from one that is new. */
export interface Replay {
  /** `rp_…`. */
  readonly id: string;
  /** Epoch ms at which it was asked for. */
  readonly at: number;
  /** The only one it is for; absent: all who listen. */
  readonly listener?: string;
}

/** The id under which an event is delivered in a replay: without a full stop, which separates the parts of a signed text. */
export const replayedEmitId = (emitId: string, replay: string): string => `${emitId}-${replay}`;

/** The replay that an event is delivered in; undefined for one that is new. */
export const replayIn = (emitId: string): string | undefined => /-(rp_[0-9a-z]+)$/.exec(emitId)?.[1];

/** All of a source go one way. */
export const laneOf = (source: string): number => partitionOf(source) % replayLaneCount;
