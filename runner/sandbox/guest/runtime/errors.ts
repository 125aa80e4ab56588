/** What the guest reports to the host of a thrown value. Reading it may run user code (getters, proxies), so every read is guarded. */
export interface ErrorDescription {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  /** Only set on errors thrown by our rules; user code cannot forge one. */
  readonly code: string | undefined;
}

const maxMessage = 8 * 1024;
const maxStack = 16 * 1024;
/** Maximum errors shown of an AggregateError. */
const maxGathered = 10;

const { apply } = Reflect;
const { defineProperty } = Object;
const { isArray } = Array;
const NativeString = String;
const NativeError = Error;
const NativeTypeError = TypeError;
const slice = String.prototype.slice;
const stringify = JSON.stringify;
const ruleCodes = new WeakMap<object, string>();
const weakMapGet = WeakMap.prototype.get;
const weakMapSet = WeakMap.prototype.set;

/** An error by which a rule of ours ends the run, unless user code catches it. `code` is stable and snake_case. */
export function ruleError(code: string, message: string): Error {
  return mark(new NativeError(message), code);
}

/** The same, as a TypeError for an invalid argument. */
export function ruleTypeError(code: string, message: string): Error {
  return mark(new NativeTypeError(message), code);
}

export function describeError(thrown: unknown): ErrorDescription {
  if ((typeof thrown !== "object" && typeof thrown !== "function") || thrown === null) {
    return { name: "Error", message: text(thrown, maxMessage) ?? "", stack: undefined, code: undefined };
  }
  const name = field(thrown, "name", 256);
  const message = field(thrown, "message", maxMessage);
  const stack = field(thrown, "stack", maxStack);
  return {
    name: name === undefined || name === "" ? "Error" : name,
    message: message ?? json(thrown),
    stack: stack === undefined ? undefined : stack + parts(thrown),
    code: apply(weakMapGet, ruleCodes, [thrown]) as string | undefined,
  };
}

function mark(error: Error, code: string): Error {
  apply(weakMapSet, ruleCodes, [error, code]);
  defineProperty(error, "code", { value: code, configurable: true, writable: true, enumerable: true });
  return error;
}

/** Nested errors and causes, as Node prints them below the stack. */
function parts(thrown: object): string {
  let lines = "";
  const errors = read(thrown, "errors");
  const count = isArray(errors) ? errors.length : 0;
  for (let index = 0; index < count && index < maxGathered; index++) lines += part(`[errors][${index}]`, read(errors, NativeString(index)));
  if (count > maxGathered) lines += `\n  … ${count - maxGathered} more errors`;
  let current: unknown = thrown;
  for (let depth = 0; depth < 3; depth++) {
    current = read(current, "cause");
    if (current === undefined || current === null) break;
    lines += part("[cause]", current);
    if (typeof current !== "object") break;
  }
  return lines;
}

function part(label: string, value: unknown): string {
  const shown =
    typeof value === "object" && value !== null ? (field(value, "stack", 4096) ?? field(value, "message", 1024) ?? json(value)) : value;
  return `\n  ${label}: ${text(shown, 4096) ?? ""}`;
}

function field(from: object, key: string, limit: number): string | undefined {
  const value = read(from, key);
  return value === undefined || value === null ? undefined : text(value, limit);
}

function read(from: unknown, key: string): unknown {
  try {
    return (from as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}

function text(value: unknown, limit: number): string | undefined {
  try {
    return apply(slice, NativeString(value), [0, limit]) as string;
  } catch {
    return undefined;
  }
}

function json(value: object): string {
  try {
    return text(stringify(value) ?? value, maxMessage) ?? "an object without a message was thrown";
  } catch {
    return "an object without a message was thrown";
  }
}
