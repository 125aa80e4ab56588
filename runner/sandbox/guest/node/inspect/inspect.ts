import {
  bufferParts,
  createContext,
  type InspectOptions,
  type Key,
  keysOf,
  keyText,
  limited,
  moreItems,
  defaultOptions,
  type Shape,
} from "./inspect-parts.ts";
import { layOut, type InspectContext } from "./inspect-layout.ts";
import { formatError } from "./inspect-error.ts";
import { constructorName, functionBase, prefixOf, tagOf } from "./inspect-names.ts";
import { formatPrimitive, paint } from "./inspect-primitive.ts";
import { typedArrayName, types } from "./util-types.ts";

// `util.inspect` with Node's layout rules, on intrinsics only: the console uses it without the rest of the Node layer.

const custom = Symbol.for("nodejs.util.inspect.custom");
export type { InspectOptions } from "./inspect-parts.ts";

/** Text of any value, as Node prints it. */
export function inspect(value: unknown, options?: InspectOptions | boolean, depth?: number | null, colors?: boolean): string {
  // The old signature is (value, showHidden, depth, colors).
  const given: InspectOptions =
    typeof options === "object" && options !== null
      ? options
      : {
          ...(typeof options === "boolean" ? { showHidden: options } : {}),
          ...(depth === undefined ? {} : { depth }),
          ...(colors === undefined ? {} : { colors }),
        };
  return formatValue(createContext(given), value, 0);
}
inspect.custom = custom;
inspect.defaultOptions = defaultOptions;
inspect.colors = {
  bold: [1, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
  gray: [90, 39],
} as Record<string, [number, number]>;
inspect.styles = {
  special: "cyan",
  number: "yellow",
  bigint: "yellow",
  boolean: "yellow",
  undefined: "grey",
  null: "bold",
  string: "green",
  symbol: "green",
  date: "magenta",
  regexp: "red",
  module: "underline",
} as Record<string, string>;

function formatValue(context: InspectContext, value: unknown, depth: number): string {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return formatPrimitive(context, value);
  const own = context.customInspect ? (value as Record<symbol, unknown>)[custom] : undefined; // any object may have it
  if (typeof own === "function" && own !== inspect) {
    const left = context.depth === null ? null : context.depth - depth;
    const result: unknown = Reflect.apply(own, value, [
      left,
      { ...defaultOptions, ...context.given, depth: left, stylize: (text: unknown) => String(text) },
      inspect,
    ]);
    if (result !== value)
      return typeof result === "object" && result !== null
        ? formatValue(context, result, depth)
        : String(result).replaceAll("\n", `\n${" ".repeat(context.indentation)}`);
  }
  if (context.seen.includes(value)) {
    const index = context.circular.get(value) ?? context.circular.size + 1;
    context.circular.set(value, index);
    return paint(context, `[Circular *${index}]`, "special");
  }
  return formatObject(context, value, depth);
}

function formatObject(context: InspectContext, value: object, depth: number): string {
  const shape = shapeOf(context, value, depth + 1);
  if (shape.empty !== undefined && shape.keys.length === 0) return shape.empty;
  if (context.depth !== null && depth > context.depth) {
    const name = prefixOf(constructorName(value), tagOf(value), Array.isArray(value) ? "Array" : "Object").slice(0, -1);
    return paint(context, constructorName(value) === null ? name : `[${name}]`, "special");
  }
  context.seen.push(value);
  context.currentDepth = depth + 1;
  const parts = shape.entries?.() ?? [];
  const isArray = shape.elements !== undefined;
  const shown = Math.min(shape.keys.length, context.propertiesLeft);
  context.propertiesLeft -= shown;
  const properties = shape.keys.slice(0, shown).map((key) => formatProperty(context, value, key, depth + 1, false));
  if (shown < shape.keys.length) properties.push(`... ${shape.keys.length - shown} more properties`);
  if (context.sorted !== false && !isArray) properties.sort(typeof context.sorted === "function" ? context.sorted : undefined);
  parts.push(...properties);
  context.seen.pop();
  const index = context.circular.get(value);
  const base =
    index === undefined ? shape.base : `${paint(context, `<ref *${index}>`, "special")}${shape.base === "" ? "" : ` ${shape.base}`}`;
  return layOut(
    context,
    parts,
    base,
    shape.braces,
    isArray ? Array.prototype.slice.call(shape.elements, 0, parts.length) : undefined,
    depth + 1,
  );
}

/** Chooses braces, prefix, parts and the empty form by the kind of value. */
function shapeOf(context: InspectContext, value: object, depth: number): Shape {
  const constructor = constructorName(value);
  const tag = tagOf(value);
  const each = (item: unknown): string => indented(context, 2, () => formatValue(context, item, depth));
  if (Array.isArray(value)) {
    const prefix = constructor !== "Array" || tag !== "" ? prefixOf(constructor, tag, "Array", `(${value.length})`) : "";
    return {
      braces: { open: `${prefix}[`, close: "]" },
      keys: keysOf(context, value, true),
      base: "",
      elements: value,
      entries: () => arrayParts(context, value, depth),
      empty: value.length === 0 ? `${prefix}[]` : undefined,
    };
  }
  const typedName = typedArrayName(value);
  if (typedName !== undefined) {
    const items = value as unknown as ArrayLike<number | bigint>; // a typed array, by its brand
    const prefix = prefixOf(constructor, tag, typedName, `(${items.length})`);
    return {
      braces: { open: `${prefix}[`, close: "]" },
      keys: keysOf(context, value, true),
      base: "",
      elements: items,
      entries: () => limited(context, items, (item) => formatPrimitive(context, item)),
      empty: items.length === 0 ? `${prefix}[]` : undefined,
    };
  }
  if (types.isSet(value)) {
    const items = [...Set.prototype.values.call(value)];
    const prefix = prefixOf(constructor, tag, "Set", `(${items.length})`);
    return {
      braces: { open: `${prefix}{`, close: "}" },
      keys: keysOf(context, value, false),
      base: "",
      entries: () => limited(context, items, each),
      empty: items.length === 0 ? `${prefix}{}` : undefined,
    };
  }
  if (types.isMap(value)) {
    const items = [...Map.prototype.entries.call(value)];
    const prefix = prefixOf(constructor, tag, "Map", `(${items.length})`);
    return {
      braces: { open: `${prefix}{`, close: "}" },
      keys: keysOf(context, value, false),
      base: "",
      entries: () => limited(context, items, ([key, item]) => `${each(key)} => ${each(item)}`),
      empty: items.length === 0 ? `${prefix}{}` : undefined,
    };
  }
  return singleShape(context, value, constructor, tag, depth);
}

function singleShape(context: InspectContext, value: object, constructor: string | null, tag: string, depth: number): Shape {
  const keys = keysOf(context, value, false);
  const braces = { open: "{", close: "}" };
  const bare = (base: string, style: "special" | "date" | "regexp"): Shape => ({
    braces,
    keys,
    base,
    empty: paint(context, base, style),
  });
  const inside = (open: string, entries: () => string[]): Shape => ({
    braces: { open: `${open}{`, close: "}" },
    keys,
    base: "",
    entries,
  });
  const prefixed = (name: string, base: string): string =>
    prefixOf(constructor, tag, name) === `${name} ` ? base : `${prefixOf(constructor, tag, name)}${base}`;
  if (typeof value === "function") return bare(functionBase(value, constructor, tag), "special");
  if (types.isArgumentsObject(value)) {
    const items = Array.from(value as ArrayLike<unknown>);
    return {
      braces: { open: "[Arguments] [", close: "]" },
      keys: keys.filter((key) => !/^\d+$/.test(String(key))),
      base: "",
      elements: items,
      entries: () => arrayParts(context, items, depth),
      empty: items.length === 0 ? "[Arguments] []" : undefined,
    };
  }
  if (types.isRegExp(value)) return bare(prefixed("RegExp", RegExp.prototype.toString.call(value)), "regexp");
  if (types.isDate(value))
    return bare(
      prefixed("Date", Number.isNaN(Date.prototype.getTime.call(value)) ? "Invalid Date" : Date.prototype.toISOString.call(value)),
      "date",
    );
  if (types.isNativeError(value)) {
    const base = formatError(context, value as Error, constructor, keys); // isNativeError, just above
    return { braces, keys, base, empty: base };
  }
  if (types.isBoxedPrimitive(value)) {
    const inner: unknown = value.valueOf();
    const kind = typeof inner === "bigint" ? "BigInt" : `${typeof inner}`.replace(/^./, (letter) => letter.toUpperCase());
    const base = `[${kind}${constructor === kind ? "" : ` (${String(constructor)})`}: ${formatPrimitive({ ...context, colors: false }, inner)}]`;
    return { braces, keys: keys.filter((key) => kind !== "String" || !/^\d+$/.test(String(key))), base, empty: base };
  }
  const prefix = prefixOf(constructor, tag, "Object");
  if (types.isMapIterator(value) || types.isSetIterator(value)) return inside(`[${tag}] `, () => []); // reading one would consume it
  if (types.isArrayBuffer(value))
    return inside(prefixOf(constructor, tag, "ArrayBuffer"), () => bufferParts(context, new Uint8Array(value as ArrayBuffer)));
  if (types.isDataView(value))
    return inside(prefixOf(constructor, tag, "DataView"), () =>
      (["byteLength", "byteOffset", "buffer"] as const).map(
        (key) => `[${key}]: ${indented(context, 2, () => formatValue(context, (value as DataView)[key], depth))}`,
      ),
    );
  if (types.isWeakSet(value) || types.isWeakMap(value))
    return inside(prefixOf(constructor, tag, "WeakMap"), () => [paint(context, "<items unknown>", "special")]);
  if (types.isModuleNamespaceObject(value))
    return {
      braces: { open: "[Module: null prototype] {", close: "}" },
      keys,
      base: "",
      empty: "[Module: null prototype] {}",
    };
  if (constructor === "Object" && tag === "") return { braces, keys, base: "", empty: "{}" };
  return { braces: { open: `${prefix}{`, close: "}" }, keys, base: "", empty: `${prefix}{}` };
}

function arrayParts(context: InspectContext, items: readonly unknown[], depth: number): string[] {
  const parts: string[] = [];
  let index = 0;
  while (index < items.length && parts.length < context.maxArrayLength) {
    if (Object.hasOwn(items, index)) {
      parts.push(formatProperty(context, items, String(index), depth, true));
      index += 1;
      continue;
    }
    const start = index;
    while (index < items.length && !Object.hasOwn(items, index)) index += 1;
    parts.push(paint(context, `<${index - start} empty item${index - start > 1 ? "s" : ""}>`, "undefined"));
  }
  if (index < items.length) parts.push(moreItems(items.length - index));
  return parts;
}

function indented(context: InspectContext, by: number, format: () => string): string {
  context.indentation += by;
  try {
    return format();
  } finally {
    context.indentation -= by;
  }
}

function formatProperty(context: InspectContext, owner: object, key: Key, depth: number, element: boolean): string {
  const property = Object.getOwnPropertyDescriptor(owner, key) ?? {
    value: (owner as Record<Key, unknown>)[key],
    enumerable: true,
  };
  const text = propertyText(context, owner, property, depth);
  return element ? text : `${keyText(context, key, property.enumerable === true)}: ${text}`;
}

function propertyText(context: InspectContext, owner: object, property: PropertyDescriptor, depth: number): string {
  if (property.get === undefined)
    return property.set === undefined
      ? indented(context, 2, () => formatValue(context, property.value as unknown, depth))
      : paint(context, "[Setter]", "special");
  const label = property.set === undefined ? "Getter" : "Getter/Setter";
  if (context.getters === false) return paint(context, `[${label}]`, "special");
  try {
    return `[${label}: ${indented(context, 2, () => formatValue(context, Reflect.apply(property.get as () => unknown, owner, []), depth))}]`;
  } catch (error) {
    return `[${label}: <Inspection threw (${error instanceof Error ? error.message : String(error)})>]`;
  }
}
