/** Metadata of an event in lists and streams, and the second argument of `run` in a listening source. */
export interface EventMetadata {
  readonly emit_id: string;
  /** The channel: "" is the default one. */
  readonly name: string;
  readonly emitter_id: string;
  /** The id given to `$emit`. Absent, never null, if there is none: clients test for the field. */
  readonly id?: string;
  /** Absent, never null, if there is none. */
  readonly summary?: string;
  /** Epoch ms. */
  readonly ts: number;
  /** Epoch ms at which it is emitted; only in the list of scheduled events. */
  readonly delivery_ts?: number;
}

/** The fields of a committed event that its metadata shows. */
interface Described {
  readonly emitId: string;
  readonly channel: string;
  readonly ts: number;
  readonly dedupeId?: string | null | undefined;
  readonly summary?: string | null | undefined;
}

export function eventMetadata({ emitId, channel, ts, dedupeId, summary }: Described, emitter: string): EventMetadata {
  return {
    emit_id: emitId,
    name: channel,
    emitter_id: emitter,
    ...(typeof dedupeId === "string" ? { id: dedupeId } : {}),
    ...(typeof summary === "string" ? { summary } : {}),
    ts,
  };
}
