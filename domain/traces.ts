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

/** What goes along from step to step. Both become headers of webhooks, so nothing else may be in them. */
export interface TraceContext {
  readonly traceparent?: string;
  /** What those who trace wrote beside it, passed on as it came: never without a traceparent. */
  readonly tracestate?: string;
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

/** Of more members, or longer ones, all are dropped: which of them could be spared is theirs to know. */
const tracestateLimits = { members: 32, characters: 512 };
const memberPattern =
  /^(?:[a-z0-9][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** Undefined for what is no tracestate, which is to be left out whole (W3C Trace Context, section 3.3); several headers are one list. */
export function parseTracestate(value: unknown): string | undefined {
  if (typeof value !== "string" || value.length > 2 * tracestateLimits.characters) return undefined;
  const members = value.split(",").flatMap((member) => member.replace(/^[ \t]+|[ \t]+$/g, "") || []);
  const keys = new Set(members.map((member) => member.slice(0, member.indexOf("="))));
  if (members.length === 0 || members.length > tracestateLimits.members || keys.size < members.length) return undefined;
  const text = members.join(",");
  return text.length <= tracestateLimits.characters && members.every((member) => memberPattern.test(member)) ? text : undefined;
}

/** Of a request. */
export function parseTraceContext(headers: { readonly [name: string]: unknown }): TraceContext {
  return traceContext({ traceparent: parseTraceparent(headers["traceparent"]), tracestate: parseTracestate(headers["tracestate"]) });
}

/** What there is of it, to be put beside other fields. */
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
