import { types } from "./util-types.ts";

/** Name of the class a value is an instance of; null when its chain has none (`Object.create(null)`). */
export function constructorName(value: object): string | null {
  let prototype: object | null = value;
  while (prototype !== null) {
    const own = Object.getOwnPropertyDescriptor(prototype, "constructor")?.value as unknown;
    if (typeof own === "function" && own.name !== "" && isInstance(value, own)) return String(own.name);
    prototype = Object.getPrototypeOf(prototype) as object | null;
  }
  return null;
}

function isInstance(value: object, Class: unknown): boolean {
  try {
    return value instanceof (Class as () => unknown); // may throw: Symbol.hasInstance is the user's
  } catch {
    return false;
  }
}

/** `Symbol.toStringTag`, unless it is shown as an own property anyway. */
export function tagOf(value: object): string {
  const tag = (value as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag];
  if (typeof tag !== "string" || tag === "") return "";
  return Object.getOwnPropertyDescriptor(value, Symbol.toStringTag)?.enumerable === true ? "" : tag;
}

/** `Foo(2) [Tag] `, `[Object: null prototype] `. */
export function prefixOf(constructor: string | null, tag: string, fallback: string, size = ""): string {
  if (constructor === null) return `[${fallback}${size}: null prototype] ${tag !== "" && fallback !== tag ? `[${tag}] ` : ""}`;
  return `${constructor}${size} ${tag !== "" && constructor !== tag ? `[${tag}] ` : ""}`;
}

/** `[Function: name]`, `[class A extends B]`, `[AsyncFunction (anonymous)]`. */
export function functionBase(value: { name?: unknown }, constructor: string | null, tag: string): string {
  const source = Function.prototype.toString.call(value);
  if (/^class\b/.test(source) && source.endsWith("}")) return classBase(value, constructor, tag);
  const kind = `${types.isAsyncFunction(value) ? "Async" : ""}${types.isGeneratorFunction(value) ? "Generator" : ""}Function`;
  const name = typeof value.name === "string" && value.name !== "" ? `: ${value.name}` : " (anonymous)";
  const base = `[${kind}${constructor === null ? " (null prototype)" : ""}${name}]`;
  const unusual = constructor !== kind && constructor !== null ? ` ${constructor}` : "";
  return `${base}${unusual}${tag !== "" && constructor !== tag ? ` [${tag}]` : ""}`;
}

function classBase(value: { name?: unknown }, constructor: string | null, tag: string): string {
  const name = Object.hasOwn(value, "name") && typeof value.name === "string" && value.name !== "" ? value.name : "(anonymous)";
  const unusual = constructor !== "Function" && constructor !== null ? ` [${constructor}]` : "";
  const shownTag = tag !== "" && constructor !== tag ? ` [${tag}]` : "";
  const parent = Object.getPrototypeOf(value) as { name?: unknown } | null;
  const heritage =
    constructor === null ? " extends null" : typeof parent?.name === "string" && parent.name !== "" ? ` extends ${parent.name}` : "";
  return `[class ${name}${unusual}${shownTag}${heritage}]`;
}
