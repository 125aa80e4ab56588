/**
 * The language's globals, which code in a context can use. As in Node, it cannot use the isolate's others (`process`, `fetch`, …).
 * `console` is included, as V8 defines it in each context.
 */
const ofLanguage: ReadonlySet<PropertyKey> = new Set([
  ..."Infinity NaN undefined eval isFinite isNaN parseFloat parseInt decodeURI decodeURIComponent encodeURI encodeURIComponent".split(" "),
  ..."escape unescape Object Function Array String Number Boolean Symbol BigInt Date RegExp Promise Proxy Reflect Math JSON Intl".split(
    " ",
  ),
  ..."Map Set WeakMap WeakSet WeakRef FinalizationRegistry Iterator Error AggregateError EvalError RangeError ReferenceError".split(" "),
  ..."SyntaxError TypeError URIError SuppressedError ArrayBuffer SharedArrayBuffer Atomics DataView Int8Array Uint8Array".split(" "),
  ..."Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array Float16Array Float32Array Float64Array BigInt64Array".split(" "),
  ..."BigUint64Array DisposableStack AsyncDisposableStack console".split(" "),
]);

const name = "([A-Za-z_$][\\w$]{0,99})";
/** Names that are assigned or declared; matches in strings and comments are harmless. */
const assignment = new RegExp(
  `(?<![\\w$.])${name}\\s{0,100}(?:=(?![=>])|(?:[-+*/%&|^]|<<|>>>?|\\*\\*|&&|\\|\\||\\?\\?)=|\\+\\+|--)|(?:\\+\\+|--)\\s{0,100}${name}`,
  "g",
);
const declaredFunction = new RegExp(`(?<![\\w$.])function\\s{0,100}\\*?\\s{0,100}${name}`, "g");

/** Compiles user code to a function, which user code could do itself. @throws SyntaxError */
export function functionOf<Made extends object>(body: string, params: readonly string[] = []): Made {
  // oxlint-disable-next-line typescript/no-implied-eval -- that is what vm is for.
  return new Function(...params, body) as unknown as Made;
}

interface ContextScope {
  /** For a `with` statement: names are looked up in the context, and then outside of it. */
  readonly scope: object;
  /** @returns the value of the last statement */
  evaluate(text: string): unknown;
}

// The wrapper's names must not collide with those of the code.
type Wrapper = (scope: object, text: string, collect: string, keep: (name: string, value: unknown) => void) => unknown;
const wrapper = functionOf<Wrapper>("with ($vm$scope) { try { return eval($vm$text); } finally { eval($vm$collect); } }", [
  "$vm$scope",
  "$vm$text",
  "$vm$collect",
  "$vm$keep",
]);
const ofWrapper: ReadonlySet<PropertyKey> = new Set(["$vm$text", "$vm$collect", "$vm$keep"]);

/**
 * Evaluates code as if the members of `context` were its global variables: what it reads is looked up there, and what it assigns, without
 * declaring it or by `var`, becomes a member, as do the functions it declares.
 */
export function contextScope(context: object, code: string): ContextScope {
  const assigned = namesIn(code, assignment);
  const scope = new Proxy(context, {
    has: (target, key) => {
      if (key === "eval" || ofWrapper.has(key)) return false;
      if (key in target || key === "globalThis" || assigned.has(String(key))) return true;
      // Undefined instead of the isolate's global: code tests for them with `typeof`.
      return !ofLanguage.has(key) && key in globalThis;
    },
    get: (target, key) => {
      if (key === Symbol.unscopables) return undefined;
      if (key in target) return Reflect.get(target, key);
      if (key === "globalThis") return target;
      return ofLanguage.has(key) ? Reflect.get(globalThis, key) : undefined;
    },
    set: (target, key, value) => Reflect.set(target, key, value),
  });
  const keep = (key: string, value: unknown): void => {
    if (!Object.hasOwn(context, key)) Reflect.set(context, key, value);
  };
  const collect = [...namesIn(code, declaredFunction)].map((key) => `try { $vm$keep("${key}", ${key}); } catch {}`).join("\n");
  return { scope, evaluate: (text) => Reflect.apply(wrapper, context, [scope, text, collect, keep]) };
}

const namesIn = (code: string, pattern: RegExp): ReadonlySet<string> =>
  new Set(Array.from(code.matchAll(pattern), ([, before, after]) => String(before ?? after)));
