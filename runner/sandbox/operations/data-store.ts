import {
  bytesOf,
  dataStoreLimits,
  isStoreKey,
  storeKeyRule,
  storeValueRule,
  type StoreOperation,
} from "../../../domain/data-store/data-stores.ts";
import { isJson } from "../message-size.ts";
import { choiceArgument, integerArgument, recordArgument, textArgument } from "./arguments.ts";
import type { AsyncOperation, OperationContext } from "./context.ts";
import { withSlot } from "./slots.ts";
import { maxPropLength } from "./store-call.ts";

const concurrent = 8;
const { keyCharacters, ttlSeconds: maxTtl, valueBytes } = dataStoreLimits;

/** `data_store(prop, operation)` → a StoreResult. The parent decides which store the prop may reach. */
export const dataStoreAsync: Record<string, AsyncOperation> = {
  data_store: (context, [prop, given]) => {
    const name = textArgument(prop, "prop", maxPropLength);
    const operation = parseOperation(recordArgument(given, "operation"));
    // Counted in the order of the calls, not of the slots.
    const number = nextNumber(context, name, operation);
    const call = { prop: name, operation, index: number.index };
    return withSlot(context, "data_store", concurrent, async () => {
      try {
        return await context.network.askStore(call, context.signal);
      } catch (error) {
        if (codeOf(error) === "data_store_changed") number.release();
        throw error;
      }
    });
  },
};

type Fields = Readonly<Record<string, unknown>>;

const kinds = ["get", "set", "increment", "delete", "clear", "size", "list"] as const;

function parseOperation(given: Fields): StoreOperation {
  const kind = choiceArgument(given["kind"], "kind", kinds);
  switch (kind) {
    case "get":
      return { kind, key: keyOf(given) };
    case "set":
      return { kind, key: keyOf(given), value: valueOf(given), ...ttlOf(given), ...versionOf(given) };
    case "increment":
      return { kind, key: keyOf(given), by: numberOf(given), ...ttlOf(given) };
    case "delete":
      return { kind, key: keyOf(given), ...versionOf(given) };
    case "clear":
    case "size":
      return { kind };
    case "list": {
      const after = given["after"] === undefined ? {} : { after: keyOf({ key: given["after"] }) };
      return { kind, ...after, withValues: given["withValues"] === true };
    }
  }
}

function keyOf({ key }: Fields): string {
  const text = textArgument(key, "key", keyCharacters);
  if (!isStoreKey(text)) throw refused(storeKeyRule);
  return text;
}

function valueOf({ value }: Fields): string {
  // First the cheap check: a text of that many characters has at least as many bytes.
  if (typeof value === "string" && value.length > valueBytes) throw refused(storeValueRule, "data_store_value_too_large");
  const text = textArgument(value, "value", valueBytes);
  if (bytesOf(text) > valueBytes) throw refused(storeValueRule, "data_store_value_too_large");
  if (!isJson(text)) throw refused("a value must be JSON");
  return text;
}

function numberOf({ by }: Fields): number {
  if (typeof by === "number" && Number.isFinite(by)) return by;
  throw refused("a key is incremented by a finite number");
}

function ttlOf({ ttlSeconds: ttl }: Fields): { readonly ttlSeconds?: number } {
  return ttl === undefined ? {} : { ttlSeconds: integerArgument(ttl, "ttl", 1, maxTtl) };
}

function versionOf({ ifVersion: version }: Fields): { readonly ifVersion?: number } {
  return version === undefined ? {} : { ifVersion: integerArgument(version, "if_version", 0, Number.MAX_SAFE_INTEGER) };
}

const refused = (rule: string, code = "data_store_invalid"): Error => Object.assign(new RangeError(rule), { code });

/** By run: each attempt of a run has a context of its own, so a repetition counts from 0 again. */
const counts = new WeakMap<OperationContext, Map<string, number>>();

interface CallNumber {
  readonly index: number;
  /**
   * A change that was refused is not remembered, so the next call takes its number: when the run is repeated, the entry has another version, and
   * the call that succeeded is the first one.
   */
  release(): void;
}

function nextNumber(context: OperationContext, prop: string, operation: StoreOperation): CallNumber {
  const ofRun = counts.get(context) ?? new Map<string, number>();
  counts.set(context, ofRun);
  const what = JSON.stringify([prop, operation.kind, "key" in operation ? operation.key : ""]);
  const index = ofRun.get(what) ?? 0;
  ofRun.set(what, index + 1);
  const release = (): void => {
    if (ofRun.get(what) === index + 1) ofRun.set(what, index);
  };
  return { index, release };
}

const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined);
