/**
 * | kind | is |
 * |---|---|
 * | event | an emitted event, or what has started the first run: a request, a tick, an email, a call by hand |
 * | run | a run of a source or of a workflow |
 * | queue, start | of a run: until it started, and until its code began to run |
 * | step | a step of a workflow run; its attempts, if there are several |
 * | wait | between two attempts, or while a run is suspended |
 * | delivery | of an event to a webhook, or of what `$.send` asked for; its attempts, if there are several |
 */
export const spanKinds = ["event", "run", "queue", "start", "step", "wait", "delivery", "attempt"] as const;
export type SpanKind = (typeof spanKinds)[number];

export const spanStatuses = ["succeeded", "failed", "running", "waiting", "canceled"] as const;
export type SpanStatus = (typeof spanStatuses)[number];

/** A part of a trace. Times are epoch ms. */
export interface Span {
  /** Unique within the trace. */
  readonly id: string;
  readonly kind: SpanKind;
  /** For people; null: the span is hidden. */
  readonly name: string | null;
  /** What distinguishes it from others of its name. */
  readonly detail?: string;
  readonly status?: SpanStatus;
  readonly startedAt: number | null;
  /** Null: it has not ended. */
  readonly endedAt: number | null;
  readonly about?: SpanSubject;
  readonly cpuMs?: number;
  /** It belongs to another owner: nothing else is known. */
  readonly isHidden?: true;
  /** It is no longer stored. */
  readonly isGone?: true;
}

/** The ids of what a span shows. */
export interface SpanSubject {
  /** Source, workflow or webhook. */
  readonly object?: string;
  readonly run?: string;
  readonly event?: string;
  readonly delivery?: string;
  readonly step?: string;
  readonly attempt?: number;
  readonly deployment?: string;
  readonly repeats?: string;
}

/** A span in its tree. */
export interface TreeSpan extends Span {
  /** Null: it is the root. */
  readonly parent: string | null;
  readonly depth: number;
  /** Some of what is below it is not in the trace, because the trace has a limit. */
  readonly hasMore?: true;
}

export interface Trace {
  /** Depth first: a span follows its parent, and its siblings are in order of time. */
  readonly spans: readonly TreeSpan[];
  /** Id of the span that was asked for. */
  readonly focus: string;
  /** Whether something is missing because of the limit. */
  readonly isCut: boolean;
  /** Id of the OpenTelemetry trace of its first run; null if there is none. */
  readonly traceId: string | null;
}
