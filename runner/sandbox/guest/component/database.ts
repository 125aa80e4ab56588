import { post } from "../runtime/bridge.ts";
import { ruleError } from "../runtime/errors.ts";

/** Keys and JSON texts of a prop; undefined: none yet; null: of an action, which has no database. */
export type StoredKeys = Record<string, string> | undefined | null;

/** One `$.service.db` prop: synchronous, on values loaded with the run; changes are committed when the run ends. */
export interface DatabaseProp {
  /** undefined when the key does not exist. */
  get(key: unknown): unknown;
  /** Stores a JSON value; undefined removes the key. */
  set(key: unknown, value: unknown): void;
}

/** Limit of one value; the host enforces the total. */
const maxValueLength = 64 * 1024;

const { parse, stringify } = JSON;

/** By prop, for the current run: a `this` kept in module state by an earlier run must not write stale values. */
const opened = new Map<string, Map<string, string>>();

export function databaseProp(prop: string, stored: StoredKeys): DatabaseProp {
  const { get, set } = openDatabase(prop, stored);
  return { get, set };
}

/** The same, with the keys in it. */
export function openDatabase(prop: string, stored: StoredKeys): DatabaseProp & { keys(): string[] } {
  opened.set(prop, new Map(Object.entries(stored ?? {})));
  const textsNow = (): Map<string, string> => opened.get(prop) ?? new Map<string, string>();
  return {
    keys: () => [...textsNow().keys()],
    get(key) {
      const text = textsNow().get(String(key));
      return text === undefined ? undefined : parse(text);
    },
    set(key, value) {
      const name = String(key);
      if (stored === null) return refuseInAction(prop, name, value);
      const text = toText(name, value);
      // First, because it checks the length of the name: a map would join a text that V8 stores in parts.
      post("db", prop, name, text);
      if (text === null) textsNow().delete(name);
      else textsNow().set(name, text);
    },
  };
}

/** Runs of a workflow go side by side and share no state. A value that seems to be stored would be lost without a word. */
function refuseInAction(prop: string, key: string, value: unknown): void {
  if (value === undefined) return;
  throw ruleError(
    "db_unavailable",
    `this.${prop} cannot store '${key}': an action has no database. Return the value or use $.export, or use a prop of type data_store that is configured with a data store`,
  );
}

function toText(key: string, value: unknown): string | null {
  if (value === undefined) return null;
  let text: string | undefined;
  try {
    text = stringify(value) as string | undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw ruleError("db_not_json", `the value of db key '${key}' cannot be made JSON: ${why}`);
  }
  if (text === undefined) throw ruleError("db_not_json", `the value of db key '${key}' is a ${typeof value}, which JSON cannot hold`);
  if (text.length > maxValueLength) {
    throw ruleError(
      "db_too_large",
      `the value of db key '${key}' is ${text.length} characters of JSON, more than all keys together may have (60 KiB)`,
    );
  }
  return text;
}
