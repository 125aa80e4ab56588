import { post } from "../runtime/bridge.ts";
import { type Fields, isObject } from "./component.ts";
import { ruleError, ruleTypeError } from "../runtime/errors.ts";
import { inspect } from "../node/inspect/inspect.ts";

const maxEmits = 10_000;
const maxPayload = 1024 * 1024;
/** Characters of an id. */
const maxId = 64 * 1024;
/** Characters of a channel's name. */
const maxName = 1024;
/** Maximum characters of the value in an error message. */
const maxShown = 100;

const now = Date.now;
const { stringify } = JSON;

/**
 * `$emit(event, {id, name, summary, ts, delivery_ts})`: the event becomes JSON at the call, so later changes to it are not seen.
 * Times are epoch ms, dates or date strings; an invalid time and unknown options are ignored with a warning in the log. Other invalid
 * arguments throw, and the error gives the number of the emit in the run.
 */
export function emitter(): (event?: unknown, metadata?: unknown) => void {
  let count = 0;
  const warn = warnOnce();
  return (event, metadata) => {
    count += 1;
    if (count > maxEmits) throw ruleError("emit_limit", `a run may emit ${maxEmits} events`);
    const call = `emit ${count} of this run`;
    const given = optionsIn(metadata, call, warn);
    const { payload, id, name, summary, ts } = toEmit(event, given, call, warn);
    post("emit", payload, id, name, summary, ts, toTime("delivery_ts", given["delivery_ts"], call, warn), now());
  };
}

/** Logs a warning about a kind of mistake, once per run. */
export type Warn = (kind: string, message: string) => void;

export function warnOnce(): Warn {
  const known = new Set<string>();
  return (kind, message) => {
    if (!known.has(kind)) post("log", "console.warn", message, now());
    known.add(kind);
  };
}

const options = ["id", "name", "summary", "ts", "delivery_ts"];

function optionsIn(metadata: unknown, call: string, warn: Warn): Fields {
  if (metadata === undefined || metadata === null) return {};
  if (!isObject(metadata) || Array.isArray(metadata)) {
    warn("options", `${call}: its options are ${shown(metadata)} and were ignored: they must be an object with ${options.join(", ")}`);
    return {};
  }
  const unknown = Object.keys(metadata).find((name) => !options.includes(name));
  if (unknown !== undefined)
    warn("option", `${call}: its option '${unknown.slice(0, maxShown)}' is unknown and was ignored: options are ${options.join(", ")}`);
  return metadata;
}

/** An event and its metadata, checked. */
export interface CheckedEmit {
  /** JSON text. */
  readonly payload: string;
  readonly id: string | number | undefined;
  readonly name: string | undefined;
  readonly summary: string | undefined;
  readonly ts: number | undefined;
}

/** @param call identifies it in errors and warnings, such as `emit 3 of this run` */
export function toEmit(event: unknown, { id, name, summary, ts }: Fields, call: string, warn: Warn): CheckedEmit {
  const text = toText(summary);
  const which = `${call}${text === undefined || text === "" ? "" : ` ("${text.slice(0, maxShown)}")`}`;
  const payload = toPayload(event, which);
  return { payload, id: toId(id, which), name: toChannel(name, which, warn), summary: text, ts: toTime("ts", ts, which, warn) };
}

function toPayload(event: unknown, which: string): string {
  if (event === undefined) return "null";
  let payload: string | undefined;
  try {
    payload = stringify(event) as string | undefined;
  } catch (error) {
    throw ruleTypeError(
      "emit_not_json",
      `${which}: the event cannot be made JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  if (payload === undefined) throw ruleTypeError("emit_not_json", `${which}: the event is a ${typeof event}, which JSON cannot hold`);
  if (payload.length > maxPayload)
    throw ruleError("emit_too_large", `${which}: the event is ${payload.length} characters of JSON; the limit is ${maxPayload}`);
  return payload;
}

/** The JSON form, so that a wrapper object (a date, a database id) becomes its text or number. */
function toId(given: unknown, which: string): string | number | undefined {
  const id = plain(given);
  if (id === undefined || id === null) return undefined;
  if (typeof id === "number" && Number.isFinite(id)) return id;
  if (typeof id !== "string" && typeof id !== "bigint")
    throw ruleTypeError(
      "invalid_emit_id",
      `${which}: its id must be a string or a finite number, got ${inspect(given).slice(0, maxShown)}`,
    );
  const text = String(id);
  if (text.length <= maxId) return text;
  throw ruleTypeError("invalid_emit_id", `${which}: its id has ${text.length} characters; the limit is ${maxId}`);
}

/** A truncated channel name would be another channel: throw instead. */
export function toChannel(given: unknown, which: string, warn: Warn): string | undefined {
  const name = plain(given);
  if (name === undefined || name === null) return undefined;
  if (typeof name !== "string" && typeof name !== "number" && typeof name !== "boolean" && typeof name !== "bigint")
    throw ruleTypeError("invalid_emit_name", `${which}: its name (the channel) must be a string, got ${inspect(given).slice(0, maxShown)}`);
  const text = String(name);
  if (typeof name !== "string")
    warn(
      "name",
      `${which}: its name (the channel) is ${shown(name)}, a ${typeof name}: it counts as the text '${text.slice(0, maxShown)}'`,
    );
  // Length first: reading a rope string makes V8 flatten it.
  if (text.length > maxName)
    throw ruleTypeError("invalid_emit_name", `${which}: its name (the channel) has ${text.length} characters; the limit is ${maxName}`);
  if (text.startsWith("$"))
    throw ruleError(
      "reserved_channel",
      `${which}: its name (the channel) is '${text.slice(0, maxShown)}': channels that begin with $ are the system's, choose another name`,
    );
  return text;
}

/** The text or number that a wrapper object represents, if any. */
function plain(value: unknown): unknown {
  if (!isObject(value)) return value;
  if (typeof value["toJSON"] === "function") return value["toJSON"]();
  if (typeof value["toString"] !== "function" || Array.isArray(value)) return value;
  const text = String(value);
  return text.startsWith("[object ") ? value : text;
}

/** For display only: any value is converted to text. */
function toText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = plain(value);
  return isObject(text) ? inspect(text) : String(text);
}

/** Epoch seconds from 2001 on, as milliseconds, are times before 1973. */
const seconds = { from: 1e9, below: 1e11 };

function toTime(option: string, value: unknown, which: string, warn: Warn): number | undefined {
  const time = timeOf(value);
  if (time === undefined) {
    if (value !== undefined && value !== null && value !== "")
      warn(option, `${which}: its ${option} is ${shown(value)} and was ignored: it must be a time in epoch milliseconds, or a date`);
    return undefined;
  }
  if (time >= seconds.from && time < seconds.below)
    warn(option, `${which}: its ${option} is ${time}, which is ${new Date(time).toISOString()}: give epoch milliseconds, not seconds`);
  return time;
}

const shown = (value: unknown): string => inspect(value).slice(0, maxShown);

function timeOf(value: unknown): number | undefined {
  if (typeof value === "string")
    return value.trim() === "" ? undefined : finite(Number.isNaN(Number(value)) ? Date.parse(value) : Number(value));
  if (typeof value === "number" || typeof value === "bigint") return finite(Number(value));
  // Date libraries return milliseconds from `valueOf`.
  return isObject(value) && !Array.isArray(value) && typeof value["valueOf"] === "function"
    ? finite(Number(value["valueOf"]()))
    : undefined;
}

const finite = (time: number): number | undefined => (Number.isFinite(time) ? time : undefined);
