import { accountIdOf } from "./account-props.ts";
import type { PropDefinition } from "./definition.ts";
import { fileComplaint } from "./file-props.ts";
import { InvalidInput } from "../errors.ts";
import { storeOf } from "./store-props.ts";
import { chosenValue } from "./labelled-value.ts";
import { parseTimer, type TimerSchedule } from "../schedule/schedule.ts";

export interface PropComplaint {
  readonly prop: string;
  /** Present if the component has no such prop, in contrast to a value that is missing or wrong. */
  readonly code?: "unknown_prop";
  readonly message: string;
}

/** Bytes of one value: of the text itself for strings, else of its JSON (specification, "Limits"). */
export const maxPropBytes = 64 * 1024;

/** What a value must be, in words, or undefined if it is valid. */
type Check = (value: unknown, prop: PropDefinition) => string | undefined;

const anything: Check = () => undefined;
const checks: Readonly<Record<string, Check>> = {
  string: (value, prop) => (typeof value === "string" || isChosen(value, prop) ? undefined : "a string"),
  boolean: (value) => (typeof value === "boolean" ? undefined : "true or false"),
  integer: checkInteger,
  object: (value) => (isObject(value) ? undefined : "an object"),
  app: checkAccount,
  any: anything,
  data_store: checkStore,
  file: fileComplaint,
  http_request: anything,
  sql: anything,
};

/** Undefined if the value is valid for the prop. The value of a secret prop never enters the message. */
export function complaintAbout(prop: PropDefinition, given: unknown): PropComplaint | undefined {
  const value = chosenValue(prop.type, given, false);
  const bytes = new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value)).length;
  if (bytes > maxPropBytes)
    return { prop: prop.name, message: `prop '${prop.name}' has ${bytes} bytes: it may have at most ${maxPropBytes}` };
  if (prop.type === "$.interface.timer") return timerComplaint(prop.name, value);
  const wanted = prop.type.endsWith("[]") ? checkArray(value, prop) : checkOne(prop.type, value, prop);
  if (wanted === undefined) return undefined;
  const shown = prop.secret === true ? "" : ` ${JSON.stringify(value).slice(0, 100)}`;
  return {
    prop: prop.name,
    message: `prop '${prop.name}' is invalid:${shown} must be ${wanted}`.replace("invalid: must", "invalid: it must"),
  };
}

function checkArray(value: unknown, prop: PropDefinition): string | undefined {
  const type = prop.type.slice(0, -2);
  if (!Array.isArray(value)) return `an array (${prop.type})`;
  const wanted = value.map((element) => checkOne(type, element, prop)).find((each) => each !== undefined);
  return wanted === undefined ? undefined : `an array (${prop.type}) in which each element is ${wanted}`;
}

function checkOne(type: string, value: unknown, prop: PropDefinition): string | undefined {
  // The builder refuses components with unknown types.
  return (Object.hasOwn(checks, type) ? checks[type] : undefined)?.(value, prop);
}

/** Choices for a string prop are often numbers, such as ids, and clients send them unchanged. */
const isChosen = (value: unknown, { options, remoteOptions }: PropDefinition): boolean =>
  typeof value === "number" && (options !== undefined || remoteOptions === true);

function checkInteger(value: unknown, { min, max }: PropDefinition): string | undefined {
  const fits = Number.isSafeInteger(value) && Number(value) >= (min ?? -Infinity) && Number(value) <= (max ?? Infinity);
  if (fits) return undefined;
  const bounds = [min === undefined ? "" : `at least ${min}`, max === undefined ? "" : `at most ${max}`]
    .filter((bound) => bound !== "")
    .join(" and ");
  return bounds === "" ? "an integer" : `an integer of ${bounds}`;
}

function checkAccount(value: unknown): string | undefined {
  return accountIdOf(value) === undefined ? 'an account, {"authProvisionId": "apn_…"}' : undefined;
}

function checkStore(value: unknown): string | undefined {
  return storeOf(value) === undefined ? 'a data store, {"storeId": "ds_…"}' : undefined;
}

/** A timer's own message has the value and valid alternatives. */
function timerComplaint(prop: string, value: unknown): PropComplaint | undefined {
  try {
    parseTimerProp(prop, value);
    return undefined;
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    return { prop, message: error.message };
  }
}

/** The schedule of a timer prop. @throws InvalidInput that names the prop */
export function parseTimerProp(prop: string, value: unknown): TimerSchedule {
  try {
    return parseTimer(value);
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    throw new InvalidInput(`prop '${prop}': ${error.message}`, { code: error.code, cause: error });
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
