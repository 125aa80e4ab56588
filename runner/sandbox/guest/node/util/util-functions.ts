import { invalidArgument, nodeError } from "../errors.ts";
import { nextTick } from "../timers/next-tick.ts";

type Any = (this: unknown, ...args: unknown[]) => unknown;
export const promisifyCustom = Symbol.for("nodejs.util.promisify.custom");

function functionOf(value: unknown, name: string): Any {
  if (typeof value !== "function") throw invalidArgument(name, "of type function", value);
  return value as Any; // checked on the line above
}

export function promisify(original: unknown): Any {
  const call = functionOf(original, "original");
  const own = (call as unknown as Record<symbol, unknown>)[promisifyCustom];
  if (own !== undefined && own !== null)
    return Object.defineProperty(functionOf(own, "util.promisify.custom"), promisifyCustom, {
      value: own,
      enumerable: false,
      writable: false,
      configurable: true,
    });
  const promised: Any = function (...args) {
    return new Promise((resolve, reject) => {
      Reflect.apply(call, this, [...args, (error: unknown, value: unknown) => (error ? reject(error) : resolve(value))]);
    });
  };
  Object.setPrototypeOf(promised, Object.getPrototypeOf(call));
  Object.defineProperties(promised, Object.getOwnPropertyDescriptors(call));
  return Object.defineProperty(promised, promisifyCustom, {
    value: promised,
    enumerable: false,
    writable: false,
    configurable: true,
  });
}
promisify.custom = promisifyCustom;

export function callbackify(original: unknown): Any {
  const call = functionOf(original, "original");
  const callbackified: Any = function (...args) {
    const callback = functionOf(args.pop(), "last argument");
    (Reflect.apply(call, this, args) as Promise<unknown>).then(
      (value) => nextTick(() => Reflect.apply(callback, this, [null, value])),
      (reason: unknown) =>
        nextTick(() =>
          Reflect.apply(callback, this, [
            reason
              ? reason
              : Object.assign(nodeError("ERR_FALSY_VALUE_REJECTION", "Promise was rejected with falsy value"), {
                  reason,
                }),
          ]),
        ),
    );
  };
  return Object.defineProperty(callbackified, "name", { value: `${call.name}Callbackified` });
}

export function inherits(child: unknown, parent: unknown): void {
  const constructor = functionOf(child, "ctor") as unknown as { prototype: object; super_?: unknown };
  const base = functionOf(parent, "superCtor") as unknown as { prototype: unknown };
  if (base.prototype === undefined) throw invalidArgument("superCtor.prototype", "of type object", base.prototype);
  Object.defineProperty(constructor, "super_", { value: base, writable: true, configurable: true });
  Object.setPrototypeOf(constructor.prototype, base.prototype as object); // checked above
}

const warned = new Set<string>();

export function deprecate(original: unknown, message: string, code?: string): Any {
  const call = functionOf(original, "fn");
  let isWarned = false;
  const deprecated = function (this: unknown, ...args: unknown[]): unknown {
    if (!isWarned) {
      isWarned = true;
      if (code === undefined || !warned.has(code)) warn(message, code);
    }
    return new.target === undefined ? Reflect.apply(call, this, args) : Reflect.construct(call, args, new.target);
  };
  Object.setPrototypeOf(deprecated, call);
  const { prototype } = call as unknown as { prototype?: unknown };
  if (prototype !== undefined) deprecated.prototype = prototype;
  return deprecated;
}

function warn(message: string, code: string | undefined): void {
  if (code !== undefined) warned.add(code);
  const { process } = globalThis as unknown as {
    process?: { emitWarning(message: string, type: string, code?: string): void };
  };
  process?.emitWarning(message, "DeprecationWarning", code);
}
