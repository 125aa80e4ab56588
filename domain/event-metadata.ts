/** What is told of an event beside its data: in lists and streams, and to `run` of a source that listens. */
export interface EventMetadata {
  readonly emit_id: string;
  /** "" is the default channel. */
  readonly name: string;
  readonly emitter_id: string;
  /** The dedupe id; null without one. */
  readonly id: string | null;
  readonly summary: string | null;
  /** Epoch ms. */
  readonly ts: number;
}
