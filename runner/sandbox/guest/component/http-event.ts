import { type Fields, isObject } from "./component.ts";
import type * as base64 from "../web/encoding/base64.ts";
import type * as encoding from "../web/encoding/encoding.ts";

// The web layer's own, whatever user code made of the globals; evaluated for the first body that is no text.
declare function require(path: "../web/encoding/base64.ts"): typeof base64;
declare function require(path: "../web/encoding/encoding.ts"): typeof encoding;

const jsonType = /^\s*(?:application|text)\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** Some services call their JSON plain text (Amazon SNS is one), and components count on the value all the same. */
const plainType = /^\s*text\/plain\s*(?:;|$)/i;

/**
 * Gives the event of an HTTP request its `bodyRaw` (text, also of bytes that are no UTF-8) and `body`: what the ingress made of a
 * form, the parsed value when the content type says JSON and it is, or when it is plain text that is a JSON object or array, else the
 * text. Other events pass as they are.
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
