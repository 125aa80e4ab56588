/** What `run` receives for a request to a source with a `$.interface.http` prop. */
export interface HttpEvent {
  readonly method: string;
  /** Path below the endpoint, beginning with `/`. */
  readonly path: string;
  /** The whole address as called. */
  readonly url: string;
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly client_ip: string;
  /** JSON, forms and multipart parsed, else the text; absent when there is none. */
  readonly body?: unknown;
  /** The body as text. In a body that is not UTF-8, such as a compressed one, U+FFFD replaces the invalid bytes: use `bodyBase64` then. */
  readonly bodyRaw?: string;
  /** The exact bytes in base64; only when they are not UTF-8. */
  readonly bodyBase64?: string;
}

/** A file of a multipart body. */
export interface FormFile {
  readonly filename: string;
  readonly contentType: string;
  /** Bytes. */
  readonly size: number;
  /** Base64. */
  readonly content: string;
}

/** What `run` receives for a tick of a `$.interface.timer` prop. */
export interface TimerEvent {
  /** Epoch seconds at which the tick was due. */
  readonly timestamp: number;
  /** Null with cron. */
  readonly interval_seconds: number | null;
  readonly cron?: string;
  readonly timezone?: string;
}

/** Options of `$emit`. */
export interface EmitMetadata {
  /** What dedupe compares: required with a strategy. */
  readonly id?: string | number | undefined;
  /** The channel; without it the default one. */
  readonly name?: string | undefined;
  /** One line for people. */
  readonly summary?: string | undefined;
  /** Epoch milliseconds: the events of a run are emitted oldest to newest. */
  readonly ts?: number | undefined;
  /** Epoch milliseconds before which it is not delivered. */
  readonly delivery_ts?: number | undefined;
}

/** What `run` receives beside an event of another source that its own listens to. */
export interface EventMetadata {
  /** The event's own, the same however often it is delivered. */
  readonly emit_id: string;
  /** The channel: "" is the default one. */
  readonly name: string;
  /** The source that emitted it. */
  readonly emitter_id: string;
  /** The id given to `$emit`; absent without one. */
  readonly id?: string;
  /** Absent without one. */
  readonly summary?: string;
  /** Epoch milliseconds. */
  readonly ts: number;
}

/** Any JSON value, taken as it is at the call; needs no `await`. */
export type Emit = (event?: unknown, metadata?: EmitMetadata) => void;
