import { type Fields, functionsOf, isObject, resolveProps } from "./component.ts";

/**
 * The component's definition as JSON text: props resolved, functions omitted, nothing validated. The host checks types and
 * names, where rules can change without a new guest.
 */
export function describeComponent(component: unknown): string {
  if (!isObject(component)) return JSON.stringify({ found: typeof component });
  const props = resolveProps(component);
  const described = {
    found: "component",
    name: component["name"],
    key: component["key"],
    type: component["type"],
    version: component["version"],
    description: component["description"],
    dedupe: component["dedupe"],
    hasRun: typeof component["run"] === "function",
    needsEvent: needsEvent(component["run"]),
    takesStep: takesStep(component["run"]),
    takesEvent: takesEvent(component["run"]),
    hasAdditionalProps: typeof component["additionalProps"] === "function",
    hooks: functionsOf(component["hooks"])
      .filter(([, hook]) => typeof hook === "function")
      .map(([name]) => name),
    props: describeProps(props),
  };
  const text = JSON.stringify({ ...described, notes: notesOf(component, props) });
  return text.length > maxWithNotes ? JSON.stringify(described) : text;
}

/**
 * Does `run` read its event without checking for one? A default, `event?.x` or `!event` means it works without. A wrong
 * guess is cheap: it only decides whether a component without an interface may be run without an event.
 */
export function needsEvent(run: unknown): boolean {
  if (typeof run !== "function" || run.length === 0) return false;
  const text = toText.call(run);
  const name = /^[^(=]*\(\s*([\w$]+)\s*[,)]/.exec(text)?.[1] ?? /^(?:async\s+)?([\w$]+)\s*=>/.exec(text)?.[1];
  if (name === undefined) return true;
  const escaped = name.replaceAll("$", "\\$");
  return !new RegExp(`!\\s*${escaped}(?![\\w$])|(?<![\\w$])${escaped}\\s*(\\?|&&|\\|\\||[!=]=)`).test(text);
}

/** Does `run` take `{ steps, $ }`, as code that is written for a step does? Such code often has neither a name nor a type. */
function takesStep(run: unknown): boolean {
  return typeof run === "function" && /^[^({=]*\(\s*\{[^{}()]*(?:\bsteps\b|\$(?![\w$]))/.test(toText.call(run));
}

/** Does `run` read an argument, and never what a step gets? */
function takesEvent(run: unknown): boolean {
  return needsEvent(run) && typeof run === "function" && !/(?<![\w$])(?:steps|\$)(?![\w${])/.test(toText.call(run));
}

const toText = Function.prototype.toString;

/** Below the host's limit for a definition: notes must not exceed it. */
const maxWithNotes = 900_000;
const maxNames = 200;
const maxNameLength = 100;

/** Names and kinds of the fields, from which the host warns about likely mistakes. */
function notesOf(component: Fields, props: readonly (readonly [name: string, prop: Fields])[]): Fields {
  const hooks = component["hooks"];
  return {
    keys: namesOf(component),
    run: kindOf(component["run"]),
    hooks: kindOf(hooks),
    noFunctions: entriesOf(hooks).filter(([, kind]) => kind !== "function"),
    methods: namesOf(component["methods"]),
    nullProps: entriesOf(component["props"])
      .filter(([, kind]) => kind === "null")
      .map(([name]) => name),
    functionFields: props.flatMap(([name, prop]) =>
      Object.keys(prop)
        .filter((field) => field !== "options" && typeof prop[field] === "function")
        .map((field) => [clip(name), clip(field)]),
    ),
  };
}

const namesOf = (value: unknown): string[] => (isObject(value) ? Object.keys(value).slice(0, maxNames).map(clip) : []);

const entriesOf = (value: unknown): [name: string, kind: string][] =>
  functionsOf(value)
    .slice(0, maxNames)
    .map(([name, each]) => [clip(name), kindOf(each)]);

const kindOf = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);

const clip = (text: string): string => text.slice(0, maxNameLength);

/** Prop definitions as JSON, each with its name. */
export function describeProps(props: readonly (readonly [name: string, prop: Fields])[]): Fields[] {
  return props.map(([name, prop]) => ({ ...describeProp(prop), name }));
}

/** Fields of an app prop that hold the app's code: omitted. */
const hidden: ReadonlySet<string> = new Set(["propDefinition", "propDefinitions", "methods"]);

function describeProp(prop: Fields): Fields {
  const described: Fields = {};
  for (const [field, value] of Object.entries(prop)) {
    if (hidden.has(field)) continue;
    if (typeof value !== "function") setJson(described, field, value);
    else if (field === "options") described["remoteOptions"] = true;
  }
  if (described["options"] !== undefined) delete described["remoteOptions"];
  return described;
}

/** Omits what JSON cannot represent (cycles, BigInt): an unknown field must not fail the definition. */
function setJson(described: Fields, field: string, value: unknown): void {
  try {
    const text = JSON.stringify(value) as string | undefined;
    if (text !== undefined) described[field] = JSON.parse(text);
  } catch {
    return;
  }
}
