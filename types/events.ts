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

/** `steps.trigger.event` of a workflow that an email has started. */
export interface EmailEvent {
  /** The `From` of the message; null if it has none. `authentication.dmarc` says whether it is genuine. */
  readonly from: EmailAddress | null;
  readonly to: readonly EmailAddress[];
  readonly cc: readonly EmailAddress[];
  readonly reply_to: readonly EmailAddress[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** ISO 8601, or as the message has it; null without one. */
  readonly date: string | null;
  readonly message_id: string | null;
  /** By lower-case name; several of one name are a list. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly attachments: readonly EmailAttachment[];
  /** Addresses of the SMTP conversation: the sender ("" of a bounce), and the address of the workflow. */
  readonly envelope: { readonly from: string; readonly to: string };
  /** Address of the server that has sent it. */
  readonly client_ip: string;
  /** Null if the installation does not check. */
  readonly authentication: EmailAuthentication | null;
}

export interface EmailAddress {
  readonly name: string;
  readonly address: string;
}

export interface EmailAttachment {
  readonly filename: string | null;
  readonly contentType: string;
  /** Bytes. */
  readonly size: number;
  /** Base64. */
  readonly content: string;
  /** Of a part that the HTML shows, such as an image. */
  readonly contentId?: string;
}

/** Results of RFC 8601. Only `pass` says something in favor of a sender. */
export interface EmailAuthentication {
  /** Whether the domain of the envelope's sender, or of HELO for a bounce, lets this server send. */
  readonly spf: {
    readonly result: "pass" | "fail" | "softfail" | "neutral" | "none" | "temperror" | "permerror";
    readonly domain: string | null;
  };
  /** The first five signatures, from the top; empty without any. */
  readonly dkim: readonly {
    /** `policy`: correct, but with a weak key or algorithm, or not for the whole message. */
    readonly result: "pass" | "fail" | "policy" | "neutral" | "temperror" | "permerror";
    readonly domain: string | null;
    readonly selector: string | null;
  }[];
  /** Whether `From` is genuine: SPF or DKIM passes for its domain, or another one of the same organization. */
  readonly dmarc: {
    readonly result: "pass" | "fail" | "none" | "temperror" | "permerror";
    /** That of `From`; null if there is not exactly one. */
    readonly domain: string | null;
    /** What the domain asks for if mail fails; null if it asks for nothing. */
    readonly policy: "none" | "quarantine" | "reject" | null;
  };
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
