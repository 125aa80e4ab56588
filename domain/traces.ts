/**
 * Traces follow what happens from its trigger to its delivery, through all processes. What travels with it is a `traceparent`: the
 * place in a trace from which the next step goes on (W3C Trace Context). Where traces are off there is no {@link Traces}, and the
 * traceparent that somebody gave is only passed on.
 */
export interface Traces {
  /** A step begins; it must be ended. */
  start(name: string, options: SpanOptions): Span;
}

export interface SpanOptions {
  /** `server`: it answers a request. `client`: it makes one. `consumer`: it takes up what was stored. */
  readonly kind?: "server" | "client" | "consumer";
  /** What it follows from; absent: nothing, a trace begins. */
  readonly traceparent?: string | undefined;
  /** Epoch ms; absent: now. */
  readonly startedAt?: number;
  readonly attributes?: SpanAttributes;
}

/** Names of OpenTelemetry first, then ours (`source.id`). No secrets, no payloads; of addresses the host alone: a path may be a secret. */
export type SpanAttributes = Readonly<Record<string, string | number>>;

export interface Span {
  /** What follows from it carries this. */
  readonly traceparent: string;
  end(end?: SpanEnd): void;
}

export interface SpanEnd {
  /** In place of the first. */
  readonly name?: string;
  readonly attributes?: SpanAttributes;
  /** A word for what went wrong, such as a code or a status; absent: nothing did. */
  readonly error?: string | undefined;
}

const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Undefined for what is no traceparent, which is to be ignored (W3C Trace Context, section 3.2). One of a later version is read as
 * far as this one goes.
 */
export function parseTraceparent(value: unknown): string | undefined {
  if (typeof value !== "string" || value.length > 200) return undefined;
  const [, version, trace = "", parent = "", flags = "", more] = pattern.exec(value) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  return isZero(trace) || isZero(parent) ? undefined : `00-${trace}-${parent}-${flags}`;
}

const isZero = (id: string): boolean => /^0+$/.test(id);
