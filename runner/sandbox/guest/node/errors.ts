import type { GuestSignal } from "./globals.ts";

export interface NodeError extends Error {
  code: string;
}

type ErrorClass = new (message: string) => Error;

/** An error as Node makes them: `code` set, and shown as `TypeError [ERR_X]: …` in a stack. */
export function nodeError(code: string, message: string, Base: ErrorClass = Error): NodeError {
  const error = new Base(message);
  const named = Object.assign(error, { code });
  const stack = error.stack;
  if (stack !== undefined && !stack.includes(`[${code}]`)) {
    const prefix = `${error.name}: `;
    if (stack.startsWith(prefix))
      Object.defineProperty(error, "stack", {
        value: `${error.name} [${code}]: ${stack.slice(prefix.length)}`,
        writable: true,
        configurable: true,
      });
  }
  return named;
}

/** ERR_INVALID_ARG_TYPE with Node's wording. */
export function invalidArgument(name: string, expected: string, actual: unknown): NodeError {
  const what = name.includes(".") ? "property" : "argument";
  return nodeError("ERR_INVALID_ARG_TYPE", `The "${name}" ${what} must be ${expected}. Received ${received(actual)}`, TypeError);
}

export function outOfRange(name: string, expected: string, actual: unknown): NodeError {
  return nodeError(
    "ERR_OUT_OF_RANGE",
    `The value of "${name}" is out of range. It must be ${expected}. Received ${String(actual)}`,
    RangeError,
  );
}

function received(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "function") return `function ${value.name}`;
  if (typeof value === "object") {
    const name: unknown = value.constructor?.name;
    return typeof name === "string" && name !== "" ? `an instance of ${name}` : "an object";
  }
  const text =
    typeof value === "string"
      ? `'${value.length > 25 ? `${value.slice(0, 25)}...` : value}'`
      : String(value) + (typeof value === "bigint" ? "n" : "");
  return `type ${typeof value} (${text})`;
}

/** Error of a function that the sandbox cannot offer. `instead` names the alternative. */
export function unsupported(name: string, instead: string): NodeError {
  return nodeError("ERR_SANDBOX_UNSUPPORTED", `${name} is not available to components: ${instead}`);
}

/** Set on functions that throw `unsupported`: the alternative. docs/compatibility.md is generated from it. */
const refusal = Symbol.for("headwater.refusal");

/** Marks a function or class as unsupported. */
export function refused<Value extends object>(value: Value, instead: string): Value {
  return Object.defineProperty(value, refusal, { value: instead });
}

/** A function of that name which throws `unsupported` when called. */
export function unsupportedFunction(module: string, name: string, instead: string): (...args: unknown[]) => never {
  const named = {
    [name](): never {
      throw unsupported(`${module}.${name}`, instead);
    },
  }[name] as (...args: unknown[]) => never; // a computed key is typed as possibly undefined
  return refused(named, instead);
}

/** A class that packages may extend and compare with; making one throws `unsupported`. */
export function unsupportedClass(name: string, instead: string, Base: new () => object = Object): new () => object {
  return refused(
    class extends Base {
      constructor() {
        super();
        throw unsupported(name, instead);
      }
    },
    instead,
  );
}

/** An object with a throwing function for each name. */
export function unsupportedModule(module: string, names: readonly string[], instead: string): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, unsupportedFunction(module, name, instead)]));
}

/** The error of an aborted wait, with the signal's reason as its cause. */
export function abortError(signal: GuestSignal): Error {
  const error = nodeError("ABORT_ERR", "The operation was aborted");
  error.name = "AbortError";
  error.cause = signal.reason;
  return error;
}
