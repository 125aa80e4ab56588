import { type Fields, isObject } from "../component/component.ts";
import { toChannel, toEmit, type Warn, warnOnce } from "../component/emit.ts";
import { toHeaders } from "../component/http-interface.ts";
import { inspect } from "../node/inspect/inspect.ts";
import { post } from "../runtime/bridge.ts";
import { ruleError, ruleTypeError } from "../runtime/errors.ts";
import type * as base64 from "../web/encoding/base64.ts";
import type * as url from "../web/url/url.ts";
import type { IsRunning } from "../runtime/still-running.ts";

// Evaluated with the first call of $.send.http.
declare function require(path: "../web/encoding/base64.ts"): typeof base64;
declare function require(path: "../web/url/url.ts"): typeof url;

const kinds = ["http", "email", "s3", "emit", "sse"] as const;
type Kind = (typeof kinds)[number];

/** `$.send`: carried out when the run of the workflow ends. The argument is checked, and becomes JSON, at the call. */
export type SendHelper = Readonly<Record<Kind, (argument?: unknown) => void>>;

const maxSends = 10_000;
const maxEmails = 100;
/** Characters of JSON of one call. */
const maxArgument = 1024 * 1024;
/** Of a subject: the maximum of a line of a mail, RFC 5322. */
const maxSubject = 998;
const maxShown = 100;
const now = Date.now;
const { stringify } = JSON;

export function sendHelper(isRunning: IsRunning): SendHelper {
  let [count, emails] = [0, 0];
  const warn = warnOnce();
  const record = (kind: Kind, argument: unknown): void => {
    count += 1;
    if (count > maxSends) throw ruleError("send_limit", `a step may call $.send ${maxSends} times`);
    if (kind === "email" && ++emails > maxEmails) throw ruleError("send_limit", `a step may call $.send.email ${maxEmails} times`);
    const text = texts[kind](argument, `$.send.${kind}() (call ${count} of this step)`, warn);
    if (isRunning(`$.send.${kind}()`)) post("send", kind, text, now());
  };
  return {
    http: (argument) => record("http", argument),
    email: (argument) => record("email", argument),
    s3: (argument) => record("s3", argument),
    emit: (argument) => record("emit", argument),
    sse: (argument) => record("sse", argument),
  };
}

/** Makes the JSON text of a checked argument, in the forms of domain/workflow/send-arguments.ts. `which` names the call in errors and warnings. */
const texts: Readonly<Record<Kind, (argument: unknown, which: string, warn: Warn) => string>> = {
  http: httpText,
  email: emailText,
  s3: (argument, which) => {
    const { bucket, prefix, payload } = fieldsOf(argument, which, "{bucket, prefix, payload}");
    if (typeof bucket !== "string" || !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
      throw invalid(which, `the bucket must be the name of a bucket, got ${shown(bucket)}`);
    if (prefix !== undefined && prefix !== null && (typeof prefix !== "string" || prefix.length > 512))
      throw invalid(which, `the prefix must be a text of at most 512 characters, got ${shown(prefix)}`);
    return jsonText({ bucket, prefix: prefix ?? "", payload: required(payload, "payload", which) }, which);
  },
  emit: emitText,
  sse: (argument, which, warn) => {
    const { channel, payload } = fieldsOf(argument, which, "{channel, payload}");
    const name = toChannel(channel, which, warn);
    if (name === undefined || name === "") throw invalid(which, "the channel is missing");
    return jsonText({ channel: name, payload: required(payload, "payload", which) }, which);
  },
};

/** `params` are added to the URL, and `auth` to the headers. */
function httpText(argument: unknown, which: string): string {
  const given = fieldsOf(argument, which, "{method, url, headers, data, params, auth}");
  const method = String(given["method"] ?? "GET").toUpperCase();
  if (!/^[A-Z]{1,20}$/.test(method)) throw invalid(which, `the method is ${shown(given["method"])}: use GET, POST, PUT, PATCH or DELETE`);
  const url = toUrl(given["url"], which);
  for (const [name, value] of Object.entries(isObject(given["params"]) ? given["params"] : {}))
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined && each !== null) url.searchParams.append(name, String(each));
  const headers = toHeaders(given["headers"], { code: "invalid_send", to: which });
  const { auth } = given;
  const { btoa } = require("../web/encoding/base64.ts");
  if (isObject(auth)) headers["authorization"] = `Basic ${btoa(`${String(auth["username"] ?? "")}:${String(auth["password"] ?? "")}`)}`;
  return jsonText({ method, url: url.href, headers, data: given["data"] }, which);
}

function toUrl(given: unknown, which: string): InstanceType<typeof url.URL> {
  const { URL } = require("../web/url/url.ts");
  try {
    const url = new URL(String(given));
    if (url.protocol === "https:" || url.protocol === "http:") return url;
  } catch {
    // Named below.
  }
  throw invalid(which, `the url is ${shown(given)}: give an address that begins with https:// or http://`);
}

function emailText(argument: unknown, which: string): string {
  const given = fieldsOf(argument, which, "{subject, text, html}");
  const { subject, text, html } = given;
  if (typeof subject !== "string" || subject.length > maxSubject || /[\r\n]/.test(subject))
    throw invalid(which, `the subject must be one line of at most ${maxSubject} characters, got ${shown(subject)}`);
  for (const [name, value] of Object.entries({ text, html }))
    if (value !== undefined && value !== null && typeof value !== "string")
      throw invalid(which, `${name} must be a text, got ${shown(value)}`);
  return jsonText(given, which);
}

/** `{raw_event, name?}`, also with `event_name` or with the fields of `$emit` in `metadata`; any other value is the event itself. */
function emitText(argument: unknown, which: string, warn: Warn): string {
  const isWrapped = isObject(argument) && Object.hasOwn(argument, "raw_event");
  const given: Fields = isWrapped ? argument : {};
  const metadata = { ...(isObject(given["metadata"]) ? given["metadata"] : {}) };
  for (const field of ["id", "summary", "ts"]) if (given[field] !== undefined) metadata[field] = given[field];
  metadata["name"] = given["name"] ?? given["event_name"] ?? metadata["name"];
  const { payload, id, name, summary, ts } = toEmit(isWrapped ? argument["raw_event"] : argument, metadata, which, warn);
  const rest = stringify({ name, summary, id: id === undefined ? undefined : String(id), ts });
  return `${rest === "{}" ? "{" : `${rest.slice(0, -1)},`}"raw_event":${payload}}`;
}

function fieldsOf(argument: unknown, which: string, form: string): Fields {
  if (isObject(argument) && !Array.isArray(argument)) return argument;
  throw invalid(which, `the argument must be an object ${form}, got ${shown(argument)}`);
}

function required(value: unknown, name: string, which: string): unknown {
  if (value !== undefined) return value;
  throw invalid(which, `the ${name} is missing`);
}

function jsonText(argument: Fields, which: string): string {
  let text: string;
  try {
    text = stringify(argument);
  } catch (error) {
    throw invalid(which, `the argument cannot be made JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (text.length <= maxArgument) return text;
  throw ruleError("send_too_large", `${which}: the argument has ${text.length} characters of JSON; the limit is ${maxArgument}`);
}

const shown = (value: unknown): string => inspect(value).slice(0, maxShown);

const invalid = (which: string, problem: string): Error => ruleTypeError("invalid_send", `${which}: ${problem}`);
