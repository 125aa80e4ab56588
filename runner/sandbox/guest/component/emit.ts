import { post } from "../runtime/bridge.ts";
import { isObject } from "./component.ts";
import { ruleError, ruleTypeError } from "../runtime/errors.ts";
import { inspect } from "../node/inspect/inspect.ts";

const maxEmits = 10_000;
const maxPayload = 1024 * 1024;
/** Characters of an id. */
const maxId = 64 * 1024;
/** Characters of a channel's name. */
const maxName = 1024;
/** Characters of an error that tell of what was given. */
const maxShown = 100;

const now = Date.now;
const { stringify } = JSON;

/**
 * `$emit(event, {id, name, summary, ts, delivery_ts})`: the event becomes JSON at the call, so later changes to it are not seen.
 * Times are epoch ms; dates and date texts are taken too, and a time that is none counts as not given. What cannot be emitted as it
 * was meant throws, and the error says which emit of the run it was.
 */
export function emitter(): (event?: unknown, metadata?: unknown) => void {
  let count = 0;
  return (event, metadata) => {
    count += 1;
    if (count > maxEmits) throw ruleError("emit_limit", `a run may emit ${maxEmits} events`);
    const { id, name, summary, ts, delivery_ts: deliverAt } = isObject(metadata) ? metadata : {};
    const text = toText(summary);
    const which = `emit ${count} of this run${text === undefined || text === "" ? "" : ` ("${text.slice(0, maxShown)}")`}`;
    post("emit", toPayload(event, which), toId(id, which), toChannel(name, which), text, toTime(ts), toTime(deliverAt), now());
  };
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

/** What JSON makes of it, so that an object that stands for a text or a number (a date, an id of a database) is that. */
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

/** A cut channel would be another one: rather an error than events that go astray. */
function toChannel(given: unknown, which: string): string | undefined {
  const name = plain(given);
  if (name === undefined || name === null) return undefined;
  if (typeof name !== "string" && typeof name !== "number" && typeof name !== "boolean" && typeof name !== "bigint")
    throw ruleTypeError("invalid_emit_name", `${which}: its name (the channel) must be a string, got ${inspect(given).slice(0, maxShown)}`);
  const text = String(name);
  // First by its length: to look into a text that V8 keeps as its parts makes it whole.
  if (text.length > maxName)
    throw ruleTypeError("invalid_emit_name", `${which}: its name (the channel) has ${text.length} characters; the limit is ${maxName}`);
  if (text.startsWith("$"))
    throw ruleError(
      "reserved_channel",
      `${which}: its name (the channel) is '${text.slice(0, maxShown)}': channels that begin with $ are the system's, choose another name`,
    );
  return text;
}

/** The text or number that an object stands for, if it stands for one. */
function plain(value: unknown): unknown {
  if (!isObject(value)) return value;
  if (typeof value["toJSON"] === "function") return value["toJSON"]();
  if (typeof value["toString"] !== "function" || Array.isArray(value)) return value;
  const text = String(value);
  return text.startsWith("[object ") ? value : text;
}

/** Shown to people only: whatever was given is put into words. */
function toText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = plain(value);
  return isObject(text) ? inspect(text) : String(text);
}

function toTime(value: unknown): number | undefined {
  if (typeof value === "string")
    return value.trim() === "" ? undefined : finite(Number.isNaN(Number(value)) ? Date.parse(value) : Number(value));
  if (typeof value === "number" || typeof value === "bigint") return finite(Number(value));
  // Libraries of dates have a `valueOf` that gives the milliseconds.
  return isObject(value) && !Array.isArray(value) && typeof value["valueOf"] === "function"
    ? finite(Number(value["valueOf"]()))
    : undefined;
}

const finite = (time: number): number | undefined => (Number.isFinite(time) ? time : undefined);
