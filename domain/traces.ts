/**
 * Traces follow work from its trigger to its deliveries, through all processes. Messages carry a `traceparent`, the parent of the next
 * step (W3C Trace Context). If tracing is off, there is no {@link Traces}, and the caller's traceparent is only passed on.
 */
export interface Traces {
  /** Starts a span, which must be ended. */
  start(name: string, options: SpanOptions): Span;
}

export interface SpanOptions {
  /** `server`: handles a request. `client`: sends one. `consumer`: processes a stored message. */
  readonly kind?: "server" | "client" | "consumer";
  /** Its parent; absent: a new trace. */
  readonly traceparent?: string | undefined;
  /** Epoch ms; absent: now. */
  readonly startedAt?: number;
  readonly attributes?: SpanAttributes;
}

/** Context that messages carry. Both are headers of webhooks, so they must contain nothing else. */
export interface TraceContext {
  readonly traceparent?: string;
  /** The caller's tracestate, passed on unchanged: never without a traceparent. */
  readonly tracestate?: string;
}

/** OpenTelemetry names first, then ours (`source.id`). No secrets or payloads, and only the host of URLs: a path may be a secret. */
export type SpanAttributes = Readonly<Record<string, string | number>>;

export interface Span {
  /** Parent for the next steps. */
  readonly traceparent: string;
  end(end?: SpanEnd): void;
}

export interface SpanEnd {
  /** Replaces the first name. */
  readonly name?: string;
  readonly attributes?: SpanAttributes;
  /** Error as one word, such as a code or a status; absent: none. */
  readonly error?: string | undefined;
}

const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Undefined for an invalid traceparent, which is ignored (W3C Trace Context, section 3.2). Later versions are read as far as this
 * version defines them.
 */
export function parseTraceparent(value: unknown): string | undefined {
  if (typeof value !== "string" || value.length > 200) return undefined;
  const [, version, trace = "", parent = "", flags = "", more] = pattern.exec(value) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  return isZero(trace) || isZero(parent) ? undefined : `00-${trace}-${parent}-${flags}`;
}

/** The id of the trace in a valid traceparent. */
export const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35);

const isZero = (id: string): boolean => /^0+$/.test(id);

/** A longer tracestate is dropped completely, because only its authors know which members are dispensable. */
const tracestateLimits = { members: 32, characters: 512 };
const memberPattern =
  /^(?:[a-z0-9][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** Undefined for an invalid tracestate, which is dropped completely (W3C Trace Context, section 3.3). Several headers are one list. */
export function parseTracestate(value: unknown): string | undefined {
  if (typeof value !== "string" || value.length > 2 * tracestateLimits.characters) return undefined;
  const members = value.split(",").flatMap((member) => member.replace(/^[ \t]+|[ \t]+$/g, "") || []);
  const keys = new Set(members.map((member) => member.slice(0, member.indexOf("="))));
  if (members.length === 0 || members.length > tracestateLimits.members || keys.size < members.length) return undefined;
  const text = members.join(",");
  return text.length <= tracestateLimits.characters && members.every((member) => memberPattern.test(member)) ? text : undefined;
}

/** Trace context of a request. */
export function parseTraceContext(headers: { readonly [name: string]: unknown }): TraceContext {
  return traceContext({ traceparent: parseTraceparent(headers["traceparent"]), tracestate: parseTracestate(headers["tracestate"]) });
}

/** The present fields, to spread into an object. */
export function traceContext({
  traceparent,
  tracestate,
}: {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}): TraceContext {
  if (traceparent === undefined) return {};
  return { traceparent, ...(tracestate === undefined ? {} : { tracestate }) };
}
