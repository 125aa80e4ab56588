import type { Braces, InspectContext } from "./inspect-layout.ts";
import { formatPrimitive, paint, quote } from "./inspect-primitive.ts";

export type Key = string | symbol;

/** How a value is laid out. */
export type Shape = {
  readonly braces: Braces;
  readonly keys: Key[];
  readonly base: string;
  /** Shown instead when there are no keys, entries or parts. */
  readonly empty?: string | undefined;
  readonly entries?: (() => string[]) | undefined;
  /** Set for arrays: their parts may be put in columns. */
  readonly elements?: ArrayLike<unknown> | undefined;
};

export interface InspectOptions {
  depth?: number | null;
  breakLength?: number;
  compact?: number | boolean;
  colors?: boolean;
  customInspect?: boolean;
  showHidden?: boolean;
  showProxy?: boolean;
  maxArrayLength?: number | null;
  maxStringLength?: number | null;
  sorted?: boolean | ((a: string, b: string) => number);
  getters?: boolean | "get" | "set";
  numericSeparator?: boolean;
  /** Ours: total properties shown, since log lines are bounded. */
  maxProperties?: number;
}

/** Above this number of elements own keys are not read: every index would become a string. */
const maxIndices = 10_000;

export const defaultOptions: Required<Omit<InspectOptions, "maxProperties">> = {
  showHidden: false,
  depth: 2,
  colors: false,
  customInspect: true,
  showProxy: false,
  maxArrayLength: 100,
  maxStringLength: 10_000,
  breakLength: 80,
  compact: 3,
  sorted: false,
  getters: false,
  numericSeparator: false,
};

/** The completed options of a call, and its state. */
export function createContext(options: InspectOptions): InspectContext {
  const all = { ...defaultOptions, ...options };
  return {
    ...all,
    seen: [],
    circular: new Map(),
    indentation: 0,
    currentDepth: 0,
    maxArrayLength: all.maxArrayLength ?? Infinity,
    maxStringLength: all.maxStringLength ?? Infinity,
    propertiesLeft: options.maxProperties ?? Infinity,
    given: options,
  };
}

/** The keys that are shown; without indices where those are shown as elements. */
export function keysOf(context: InspectContext, value: object, indexed: boolean): Key[] {
  if (indexed && (value as ArrayLike<unknown>).length > maxIndices) return [];
  const names = context.showHidden ? Object.getOwnPropertyNames(value) : Object.keys(value);
  const symbols = Object.getOwnPropertySymbols(value).filter(
    (symbol) => context.showHidden || Object.prototype.propertyIsEnumerable.call(value, symbol),
  );
  return [...(indexed ? names.filter((name) => !/^(0|[1-9]\d*)$/.test(name)) : names), ...symbols];
}

export function keyText(context: InspectContext, key: Key, enumerable: boolean): string {
  if (key === "__proto__") return "['__proto__']";
  if (!enumerable) return `[${String(key)}]`;
  if (typeof key === "symbol") return paint(context, String(key), "symbol");
  return /^[a-zA-Z_][a-zA-Z_0-9]*$/.test(key) ? paint(context, key, "name") : paint(context, quote(key), "string");
}

export function bufferParts(context: InspectContext, bytes: Uint8Array): string[] {
  const shown = Array.from(bytes.subarray(0, 50), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  const more = bytes.length - 50;
  const trailer = more > 0 ? ` ... ${more} more byte${more > 1 ? "s" : ""}` : "";
  return [
    `${paint(context, "[Uint8Contents]", "special")}: <${shown}${trailer}>`,
    `[byteLength]: ${formatPrimitive(context, bytes.length)}`,
  ];
}

/** As many items as an array may show, and how many more there are. */
export function limited<T>(context: InspectContext, items: ArrayLike<T>, format: (item: T) => string): string[] {
  const shown = Math.min(Math.max(0, context.maxArrayLength), items.length);
  const parts = Array.from({ length: shown }, (_, index) => format(items[index] as T)); // index < length
  if (items.length > shown) parts.push(moreItems(items.length - shown));
  return parts;
}

export const moreItems = (count: number): string => `... ${count} more item${count > 1 ? "s" : ""}`;
