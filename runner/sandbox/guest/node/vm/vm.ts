import { invalidArgument, unsupportedFunction } from "../errors.ts";
import { Buffer } from "../buffer/buffer.ts";
import { contextScope, functionOf } from "./vm-scope.ts";

interface ScriptOptions {
  readonly filename?: unknown;
  readonly [option: string]: unknown;
}

// The isolate has one realm. A context is an object whose members are the global variables of the code: the same `Function` and `eval` that
// user code has evaluate it, so it gets nothing that user code does not have.

const contexts = new WeakSet<object>();
const constants = Object.freeze({
  __proto__: null,
  USE_MAIN_CONTEXT_DEFAULT_LOADER: Symbol("vm_dynamic_import_main_context_default"),
  DONT_CONTEXTIFY: Symbol("vm_context_no_contextify"),
});

/** `node:vm`'s Script. Options about time, caches and imports are ignored. */
class Script {
  readonly #code: string;
  readonly #text: string;
  cachedDataRejected: boolean | undefined;
  sourceMapURL: string | undefined;

  constructor(code: unknown, options: ScriptOptions | string = {}) {
    this.#code = String(code);
    this.#text = withName(this.#code, options);
    // Throws the SyntaxError here, as Node does.
    functionOf(this.#text);
  }
  runInThisContext(_options?: unknown): unknown {
    // oxlint-disable-next-line no-eval -- user code evaluates its own text.
    return (0, eval)(this.#text);
  }
  runInContext(context: unknown, _options?: unknown): unknown {
    return contextScope(contextified(context), this.#code).evaluate(this.#text);
  }
  runInNewContext(object: unknown = {}, _options?: unknown): unknown {
    return this.runInContext(createContext(object));
  }
  createCachedData(): Buffer {
    return Buffer.alloc(0);
  }
}

function createContext(object: unknown = {}, _options?: unknown): object {
  if (object === constants.DONT_CONTEXTIFY) return createContext({});
  if (typeof object !== "object" || object === null) throw invalidArgument("contextObject", "of type object", object);
  contexts.add(object);
  return object;
}

function isContext(object: unknown): boolean {
  if (typeof object !== "object" || object === null) throw invalidArgument("object", "of type object", object);
  return contexts.has(object);
}

function contextified(object: unknown): object {
  if (typeof object === "object" && object !== null && contexts.has(object)) return object;
  throw invalidArgument("contextifiedObject", "an vm.Context", object);
}

function compileFunction(code: unknown, params: readonly string[] = [], options: ScriptOptions = {}): unknown {
  if (typeof code !== "string") throw invalidArgument("code", "of type string", code);
  if (!Array.isArray(params)) throw invalidArgument("params", "an instance of Array", params);
  const { parsingContext, contextExtensions = [] } = options;
  const text = withName(code, options);
  const compiled = functionOf(text, params);
  const extensions = contextExtensions as readonly object[]; // `with` takes any object
  if (parsingContext === undefined && extensions.length === 0) return compiled;
  const scopes = [...(parsingContext === undefined ? [] : [contextScope(contextified(parsingContext), code).scope]), ...extensions];
  const opening = scopes.map((_, index) => `with (arguments[0][${index}]) `).join("");
  // Inner scopes look `arguments` up in outer ones: the list is an argument of the function around all of them.
  return functionOf<(scopes: object[]) => unknown>(`${opening}return function (${params.join(",")}) {${text}\n};`)(scopes);
}

/** File name of the code in stacks. */
function withName(code: string, options: ScriptOptions | string): string {
  const filename = typeof options === "string" ? options : options?.filename;
  if (filename === undefined) return code;
  if (typeof filename !== "string") throw invalidArgument("options.filename", "of type string", filename);
  return `${code}\n//# sourceURL=${filename.replace(/\s/g, "%20")}`;
}

const scriptOf = (code: unknown, options: unknown): Script => new Script(code, options as ScriptOptions); // it checks them

/** `node:vm`. */
export default {
  Script,
  createContext,
  createScript: scriptOf,
  runInContext: (code: unknown, context: unknown, options?: unknown) => scriptOf(code, options).runInContext(context),
  runInNewContext: (code: unknown, object?: unknown, options?: unknown) => scriptOf(code, options).runInNewContext(object),
  runInThisContext: (code: unknown, options?: unknown) => scriptOf(code, options).runInThisContext(),
  isContext,
  compileFunction,
  constants,
  measureMemory: unsupportedFunction("vm", "measureMemory", "see the durations and limits of a run"),
};
