import { maxTimestampMs } from "../clock.ts";
import type { EmitArgument, SendKind } from "./run-state.ts";

/** `$.send.http`: a request whose params are in its URL, and whose auth is in its headers. */
export interface HttpSend {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** A text is the body as it is; any other value is sent as JSON. Absent: no body. */
  readonly data?: unknown;
}

/** `$.send.email`: to the owner of the workflow. */
export interface EmailSend {
  /** One line. */
  readonly subject: string;
  readonly text?: string | null;
  readonly html?: string | null;
  /** As given, unchecked. */
  readonly [field: string]: unknown;
}

/** `$.send.s3`: an object with the payload in the bucket, its key begins with the prefix. */
export interface S3Send {
  readonly bucket: string;
  readonly prefix: string;
  readonly payload: unknown;
}

/** `$.send.sse`: an event of the workflow's stream with the name of the channel. */
export interface SseSend {
  readonly channel: string;
  readonly payload: unknown;
}

/** The argument of `$.send.<kind>`, as the sandbox has checked and completed it. */
export interface SendArguments {
  readonly http: HttpSend;
  readonly email: EmailSend;
  readonly s3: S3Send;
  readonly emit: EmitArgument;
  readonly sse: SseSend;
}

type Fields = Readonly<Record<string, unknown>>;

/** Characters of a channel's name, and of an event's id. */
const maxName = 1024;
const maxId = 64 * 1024;
/** Of a subject: the maximum of a line of a mail, RFC 5322. */
const maxSubject = 998;

/** Undefined if the text is not an argument that the sandbox makes: user code may have manipulated it. @param text JSON text */
export function parseSendArgument<Kind extends SendKind>(kind: Kind, text: string): SendArguments[Kind] | undefined {
  let argument: unknown;
  try {
    argument = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof argument !== "object" || argument === null || Array.isArray(argument)) return undefined;
  return isArgument[kind](argument as Fields) ? (argument as SendArguments[Kind]) : undefined; // Checked on this line.
}

const isArgument: Readonly<Record<SendKind, (argument: Fields) => boolean>> = {
  http: ({ method, url, headers }) => typeof method === "string" && /^[A-Z]{1,20}$/.test(method) && isHttpUrl(url) && isHeaders(headers),
  email: ({ subject, text, html }) =>
    isText(subject, maxSubject) && !/[\r\n]/.test(subject) && [text, html].every((part) => (part ?? "") === "" || typeof part === "string"),
  s3: ({ bucket, prefix, payload }) => isText(bucket, 63) && isText(prefix, maxName) && payload !== undefined,
  emit: ({ raw_event: event, name, summary, id, ts }) =>
    event !== undefined && isOptional(name, isChannel) && isOptional(summary, isAnyText) && isOptional(id, isId) && isOptional(ts, isTime),
  sse: ({ channel, payload }) => isChannel(channel) && channel !== "" && payload !== undefined,
};

const isText = (value: unknown, limit: number): value is string => typeof value === "string" && value.length <= limit;
const isAnyText = (value: unknown): boolean => typeof value === "string";
const isId = (value: unknown): boolean => isText(value, maxId);
const isTime = (value: unknown): boolean => typeof value === "number" && Math.abs(value) <= maxTimestampMs;
/** Channels that begin with $ are the system's. */
const isChannel = (value: unknown): boolean => isText(value, maxName) && !value.startsWith("$");
const isOptional = (value: unknown, isValid: (value: unknown) => boolean): boolean => value === undefined || isValid(value);
const isHttpUrl = (value: unknown): boolean => typeof value === "string" && /^https?:\/\//.test(value) && URL.canParse(value);

function isHeaders(headers: unknown): boolean {
  if (typeof headers !== "object" || headers === null) return false;
  return Object.entries(headers).every(([name, value]) => isHeaderName(name) && listOf(value).every(isHeaderValue));
}

const isHeaderName = (name: string): boolean => /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name);
const isHeaderValue = (value: unknown): boolean => typeof value === "string" && !/[^\t\x20-\x7e\x80-\xff]/.test(value);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
