import { type Fields, isObject, resolveProps } from "../component/component.ts";
import { post } from "../runtime/bridge.ts";
import { ruleError } from "../runtime/errors.ts";
import { misfitOf } from "./prop-value.ts";
import { compileTemplate, type Template } from "./template.ts";

/** Characters of JSON. */
const maxInputs = 64 * 1024;
/** Levels of arrays and objects in a prop; texts below are not evaluated. */
const maxDepth = 100;
const maxShown = 200;
const { stringify, parse } = JSON;

/**
 * Props with the expressions in their texts evaluated, at any depth. Secret props and accounts are never looked into. What an expression
 * gives is not looked into either: an event cannot bring expressions of its own.
 */
export function evaluateProps(definition: Fields, props: Fields, readable: Readable, secretProps: readonly string[]): Fields {
  const scope = scopeOf(readable);
  const secret = new Set(secretProps);
  const defined = new Map(resolveProps(definition));
  for (const [name, prop] of defined) if (prop["type"] === "app" || prop["secret"] === true) secret.add(name);
  const evaluated: Fields = {};
  const values = Object.entries(props).map(([name, value]): [string, unknown] => {
    const found = secret.has(name) ? value : evaluate(value, name, scope);
    if (found !== value) evaluated[name] = found;
    return [name, found];
  });
  post("inputs", inputsText(evaluated));
  for (const name of Object.keys(evaluated)) checkValue(name, props[name], evaluated[name], defined.get(name));
  return Object.fromEntries(values);
}

/** What expressions read. */
interface Readable {
  readonly steps: Fields;
  readonly variables: Fields;
}

interface Scope {
  readonly steps: Fields;
  /** `env`, which notes the names that it does not have. */
  readonly environment: (missing: Set<string>) => object;
}

const { hasOwn } = Object;
const NativeProxy = Proxy;

function scopeOf({ steps, variables }: Readable): Scope {
  return {
    steps,
    environment: (missing) =>
      new NativeProxy(variables, {
        get: (target, name) => {
          if (typeof name === "string" && !hasOwn(target, name)) missing.add(name);
          return typeof name === "string" && hasOwn(target, name) ? target[name] : undefined;
        },
        set: () => false,
        defineProperty: () => false,
        deleteProperty: () => false,
      }),
  };
}

const notSet = (name: string): string =>
  `the variable '${name.slice(0, maxShown)}' is not set: hw variables set ${name.slice(0, maxShown)}`;

/** The same value if it contains no expression. */
function evaluate(value: unknown, path: string, scope: Scope, depth = 0): unknown {
  if (typeof value === "string") return value.includes("{{") ? evaluateText(value, path, scope) : value;
  if (!isObject(value) || depth >= maxDepth) return value;
  if (Array.isArray(value)) {
    const items = value.map((item, index) => evaluate(item, `${path}[${index}]`, scope, depth + 1));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => [key, evaluate(item, `${path}.${key}`, scope, depth + 1)]);
  return entries.some(([key, item]) => item !== value[key]) ? Object.fromEntries(entries) : value;
}

/** A text that is exactly one expression, with or without spaces around it, has its value; otherwise values are inserted as text. */
function evaluateText(text: string, path: string, scope: Scope): unknown {
  const template = templateOf(text, path);
  if (template.expressions.length === 0) return text;
  const values = template.expressions.map(({ source, run }) => {
    const missing = new Set<string>();
    const { steps } = scope;
    const env = scope.environment(missing);
    try {
      const value = checked(run(steps, env, { env }));
      // With a default, such as `env.A ?? "a"`, it is no mistake.
      if (value === undefined && missing.size > 0) throw new ReferenceError("its value is undefined");
      return template.isWhole ? value : toText(value);
    } catch (error) {
      const problem = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      throw failure(path, source, [problem, ...[...missing].map(notSet)].join("; "));
    }
  });
  if (template.isWhole) return values[0];
  return template.texts.map((part, index) => (index === 0 ? part : `${String(values[index - 1])}${part}`)).join("");
}

/** Compiled texts of this context: its workflow evaluates the same ones in each run. */
const templates = new Map<string, Template>();
const maxTemplates = 1_000;

function templateOf(text: string, path: string): Template {
  const known = templates.get(text);
  if (known !== undefined) return known;
  const template = compileTemplate(text);
  if ("problem" in template) throw failure(path, template.source, template.problem);
  if (templates.size >= maxTemplates) templates.clear();
  templates.set(text, template);
  return template;
}

function checked(value: unknown): unknown {
  if (typeof value === "function" || typeof value === "symbol" || typeof value === "bigint")
    throw new TypeError(`its value is a ${typeof value}, which JSON cannot hold`);
  if (isObject(value) && typeof value["then"] === "function") throw new TypeError("its value is a promise: expressions cannot wait");
  return value;
}

/** Objects as JSON; a date as its text. */
function toText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (!isObject(value)) return String(value);
  const text = (stringify(value) as string | undefined) ?? "";
  return text.startsWith('"') ? (parse(text) as string) : text;
}

/** Null if no prop contains an expression, or if the values are too large to be shown. */
function inputsText(evaluated: Fields): string | null {
  if (Object.keys(evaluated).length === 0) return null;
  try {
    const text = stringify(evaluated);
    return text.length > maxInputs ? null : text;
  } catch {
    return null;
  }
}

/** @param prop undefined: an additional prop, whose type only its component knows */
function checkValue(name: string, given: unknown, value: unknown, prop: Fields | undefined): void {
  const misfit = prop === undefined ? undefined : misfitOf(value, prop);
  if (misfit === undefined) return;
  const source = typeof given === "string" ? given : stringify(given);
  const type = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  throw ruleError(
    "expression_failed",
    `prop '${name.slice(0, maxShown)}': ${cut(source)} gives ${cut(shownValue(value))} (${type}): it must be ${misfit}`,
  );
}

function shownValue(value: unknown): string {
  try {
    return (stringify(value) as string | undefined) ?? String(value);
  } catch {
    return String(value);
  }
}

const cut = (text: string): string => (text.length > maxShown ? `${text.slice(0, maxShown)}…` : text);

function failure(path: string, source: string, problem: string): Error {
  return ruleError("expression_failed", `prop '${path.slice(0, maxShown)}': the expression {{${cut(source)}}} failed: ${problem}`);
}
