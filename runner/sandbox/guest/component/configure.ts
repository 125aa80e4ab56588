import { bindApp, isSameApp } from "./app.ts";
import { bindComponent, type RunInputs } from "./bind.ts";
import { type Fields, isObject, propsOf, resolveProp, resolveProps, type ResolvedProp } from "./component.ts";
import { describeProps } from "./describe.ts";
import { ruleError, ruleTypeError } from "../runtime/errors.ts";
import { optionsText } from "./options.ts";

type Call = (...args: unknown[]) => unknown;

/** Performs the call that domain/component/configure.ts describes. @returns its result as JSON text */
export async function configureComponent(component: Fields, call: Fields, inputs: RunInputs): Promise<string> {
  const self = bindComponent(component, inputs);
  if (call["kind"] === "options") return listOptions(component, self, call);
  const { given, returned } = await reloadProps(component, self, call["previous"]);
  const names = resolveProps(component).map(([name]) => name);
  const merged = new Map(names.map((name) => [name, given[name] ?? {}]));
  for (const [name, prop] of propsOf(returned)) merged.set(name, resolveProp(prop).fields);
  return JSON.stringify({ props: describeProps([...merged]) });
}

interface Reloaded {
  /** The definitions passed to it, as it left them; the component's own first. */
  readonly given: Record<string, Fields>;
  readonly returned: Fields;
}

/**
 * Calls `additionalProps` with all prop definitions as JSON. Its changes to the component's own props
 * apply, and the props that it returns replace those with the same name.
 */
async function reloadProps(component: Fields, self: Fields, previous: unknown): Promise<Reloaded> {
  const own = describeProps(resolveProps(component));
  const before = Array.isArray(previous) ? (previous as Fields[]) : [];
  const given = Object.fromEntries([...before, ...own].map((prop) => [String(prop["name"]), prop]));
  const reload = component["additionalProps"];
  const returned: unknown = typeof reload === "function" ? await Reflect.apply(reload as Call, self, [given]) : undefined;
  if (returned === undefined || returned === null) return { given, returned: {} };
  if (isObject(returned) && !Array.isArray(returned)) return { given, returned };
  throw ruleTypeError("invalid_props", `additionalProps returned ${kindOf(returned)}: it must return an object of props by name`);
}

async function listOptions(component: Fields, self: Fields, call: Fields): Promise<string> {
  const name = String(call["prop"]);
  const { fields, app, inputs } = await findProp(component, self, name);
  const { options } = fields;
  if (typeof options !== "function") return optionsText(name, options);
  const target = app === undefined ? self : appOf(component, self, app);
  const { page, prevContext, query } = call;
  const asked = { page, prevContext: prevContext ?? {}, query, ...(await inputValues(self, inputs)) };
  return optionsText(name, await Reflect.apply(options as Call, target, [asked]));
}

/** A prop with options: the component's own, or one that `additionalProps` changes or adds. */
async function findProp(component: Fields, self: Fields, name: string): Promise<ResolvedProp> {
  const own = propsOf(component["props"]).find(([known]) => known === name);
  const resolved = own === undefined ? undefined : resolveProp(own[1]);
  if (resolved !== undefined && hasOptions(resolved)) return resolved;
  if (typeof component["additionalProps"] === "function") {
    const { given, returned } = await reloadProps(component, self, undefined);
    const found = Object.hasOwn(returned, name) ? returned[name] : Object.hasOwn(given, name) ? given[name] : undefined;
    if (found !== undefined) {
      const additional = resolveProp(found);
      if (hasOptions(additional)) return additional;
      throw ruleError("no_options", `prop '${name}' has no options`);
    }
  }
  throw ruleError("no_options", resolved === undefined ? `the component has no prop '${name}'` : `prop '${name}' has no options`);
}

function hasOptions({ fields }: ResolvedProp): boolean {
  return typeof fields["options"] === "function" || Array.isArray(fields["options"]);
}

/** The component's app with its account, which is missing if no prop is of that app. */
function appOf(component: Fields, self: Fields, app: unknown): unknown {
  for (const [name, prop] of resolveProps(component)) if (isSameApp(prop, app) && isObject(self[name])) return self[name];
  return isObject(app) ? bindApp(app, undefined) : self;
}

/** Extra arguments from prop references: an object, or a function of the props configured so far. References nearer to the component win. */
async function inputValues(self: Fields, inputs: readonly unknown[]): Promise<Fields> {
  let values: Fields = {};
  for (const input of inputs) {
    const configured = Object.keys(values).length === 0 ? self : Object.assign(Object.create(self) as Fields, values);
    const found: unknown = typeof input === "function" ? await Reflect.apply(input as Call, self, [configured]) : input;
    if (isObject(found)) values = { ...found, ...values };
  }
  return values;
}

const kindOf = (value: unknown): string => (Array.isArray(value) ? "an array" : `a ${typeof value}`);
