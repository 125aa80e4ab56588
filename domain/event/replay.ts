import type { TraceContext } from "../traces.ts";
import { hash } from "../hash.ts";
import { replayLaneCount } from "../subjects.ts";

/** A past event to deliver again: a message on the stream DELIVERIES, from the API to the delivery role. */
export interface ReplayedEvent extends TraceContext {
  readonly replay: Replay;
  /** Stable, but different from the original, so that receivers that drop duplicates accept it. */
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

/** The replay of an event. */
export interface Replay {
  /** `rp_…`. */
  readonly id: string;
  /** Epoch ms of the request. */
  readonly at: number;
  /** The only listener; absent: all listeners. */
  readonly listener?: string;
}

/** The event's id in a replay, without a full stop, which separates the parts of the signed text. */
export const replayedEmitId = (emitId: string, replay: string): string => `${emitId}-${replay}`;

/** The replay of an event; undefined for an original event. */
export const replayIn = (emitId: string): string | undefined => /-(rp_[0-9a-z]+)$/.exec(emitId)?.[1];

/** All events of a source use the same lane. */
export const laneOf = (source: string): number => hash(source) % replayLaneCount;
