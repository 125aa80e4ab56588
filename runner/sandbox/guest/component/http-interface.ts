import { post } from "../runtime/bridge.ts";
import { type Fields, isObject } from "./component.ts";
import { ruleError, ruleTypeError } from "../runtime/errors.ts";
import { inspect } from "../node/inspect/inspect.ts";
import { stillRunning } from "../runtime/still-running.ts";
import { encodeUtf8 } from "../web/encoding/utf8.ts";
import { chunksOf, sendBody } from "./streamed-body.ts";

/** A `$.interface.http` prop. */
export interface HttpProp {
  readonly endpoint: string | null;
  /** Answers the request: status 200 to 599, body text, bytes, any JSON value, or a stream. @returns for a stream, when it has been read */
  respond(response: unknown): Promise<void> | void;
}

const maxBody = 4 * 1024 * 1024;
/** JSON text of all names and values. */
const maxHeaders = 64 * 1024;
const { stringify } = JSON;

export function httpProp(endpoint: string | null): HttpProp {
  const isRunning = stillRunning();
  let answered = false;
  return {
    endpoint,
    respond(response) {
      const given = isObject(response) ? response : {};
      const status = toStatus(given["status"]);
      if (answered) throw alreadyResponded();
      if (!isRunning("respond()")) return;
      const chunks = chunksOf(given["body"]);
      if (chunks === undefined) postResponse(status, given);
      else postHead(status, given);
      answered = true;
      return chunks === undefined ? undefined : sendBody(chunks, isRunning);
    },
  };
}

export const alreadyResponded = (): Error =>
  ruleError("already_responded", "respond() was called before in this run; a request has one response");

/** @param status from `toStatus` */
export function postResponse(status: number, given: Fields, isImmediate = false): void {
  const headers = toHeaders(given["headers"]);
  const body = toBody(given["body"], headers);
  const bytes = typeof body === "string" ? utf8Length(body) : body.length;
  if (bytes > maxBody)
    throw ruleError("response_too_large", `the body of the response has ${bytes} bytes; the limit is ${maxBody}, unless it is a stream`);
  post("respond", status, headersText(headers), body, isImmediate);
}

/** The beginning of a response whose body is a stream, which is sent at once. */
export function postHead(status: number, given: Fields): void {
  post("respond", status, headersText(toHeaders(given["headers"])), "", true, true);
}

function headersText(headers: Fields): string {
  const text = stringify(headers);
  if (text.length <= maxHeaders) return text;
  throw ruleError("response_too_large", `the headers of the response have ${text.length} characters; the limit is ${maxHeaders}`);
}

export function toStatus(status: unknown): number {
  const number = typeof status === "string" && status.trim() !== "" ? Number(status) : status;
  if (typeof number === "number" && Number.isInteger(number) && number >= 200 && number <= 599) return number;
  // A status below 200 is not final (RFC 9110, section 15.2): the client would keep waiting.
  const isInterim = typeof number === "number" && number >= 100 && number < 200;
  throw ruleTypeError(
    "invalid_response",
    `the status given to respond() must be an integer from 200 to 599, got ${inspect(status).slice(0, 100)}${isInterim ? ", which only announces a response" : ""}`,
  );
}

/** What the errors of headers name. */
interface HeadersCall {
  readonly code: string;
  readonly to: string;
}

const toRespond: HeadersCall = { code: "invalid_response", to: "respond()" };

export function toHeaders(headers: unknown, call = toRespond): Record<string, string | string[]> {
  const plain: Record<string, string | string[]> = {};
  if (!isObject(headers)) return plain;
  const entries =
    typeof headers["forEach"] === "function" ? [...(headers as unknown as Iterable<[string, unknown]>)] : Object.entries(headers);
  for (const [name, value] of entries) {
    if (value === undefined || value === null) continue;
    plain[checkedName(String(name), call)] = Array.isArray(value)
      ? value.map((one) => checkedValue(name, one, call))
      : checkedValue(name, value, call);
  }
  return plain;
}

function checkedName(name: string, { code, to }: HeadersCall): string {
  if (/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)) return name;
  throw ruleTypeError(code, `the header name ${inspect(name).slice(0, 100)} given to ${to} is not one that HTTP allows`);
}

function checkedValue(name: string, given: unknown, { code, to }: HeadersCall): string {
  const value = String(given);
  if (!/[^\t\x20-\x7e\x80-\xff]/.test(value)) return value;
  throw ruleTypeError(code, `the value of the header '${name}' given to ${to} has a character that HTTP does not allow there`);
}

function utf8Length(text: string): number {
  return text.length * 3 <= maxBody ? text.length : encodeUtf8(text).length;
}

function toBody(body: unknown, headers: Fields): string | Uint8Array {
  if (body === undefined || body === null) return "";
  if (typeof body === "string") return body;
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  if (isObject(body) && typeof body["then"] === "function")
    throw ruleTypeError("invalid_response", "the body given to respond() is a promise; await it first");
  if (!Object.keys(headers).some((name) => name.toLowerCase() === "content-type")) {
    headers["content-type"] = "application/json; charset=utf-8";
  }
  return toJson(body);
}

function toJson(body: unknown): string {
  let problem = `is a ${typeof body}`;
  try {
    const text = stringify(body) as string | undefined;
    if (text !== undefined) return text;
  } catch (error) {
    problem = `cannot be made JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  throw ruleTypeError("invalid_response", `the body given to respond() ${problem}; it must be a text, bytes or a JSON value`);
}
