import { type Fields, isObject } from "./component.ts";
import type * as base64 from "../web/encoding/base64.ts";
import type * as encoding from "../web/encoding/encoding.ts";

// The web layer's own class, since user code may replace globals; loaded with the first binary body.
declare function require(path: "../web/encoding/base64.ts"): typeof base64;
declare function require(path: "../web/encoding/encoding.ts"): typeof encoding;

const jsonType = /^\s*(?:application|text)\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** Some services, such as Amazon SNS, send JSON as text/plain; components expect the parsed value. */
const plainType = /^\s*text\/plain\s*(?:;|$)/i;

/**
 * Adds `bodyRaw` (text, also of bytes that are not UTF-8) and `body` to an HTTP event. `body` is what the ingress parsed from a
 * form, the parsed value if the content type is JSON or the plain text is a JSON object or array, otherwise the
 * text. Other events are returned unchanged.
 */
export function completeEvent(event: unknown): unknown {
  if (!isObject(event) || typeof event["method"] !== "string" || !isObject(event["headers"]) || typeof event["path"] !== "string")
    return event;
  if (typeof event["bodyBase64"] === "string" && event["bodyRaw"] === undefined) event["bodyRaw"] = decode(event["bodyBase64"]);
  if (event["body"] === undefined && typeof event["bodyRaw"] === "string") event["body"] = toBody(event["bodyRaw"], event["headers"]);
  return event;
}

function toBody(text: string, headers: Fields): unknown {
  const type = String(headers["content-type"] ?? "");
  if (!jsonType.test(type) && !(plainType.test(type) && /^\s*[{[]/.test(text))) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function decode(text: string): string {
  const { atob } = require("../web/encoding/base64.ts");
  const { TextDecoder } = require("../web/encoding/encoding.ts");
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return new TextDecoder().decode(bytes);
}
