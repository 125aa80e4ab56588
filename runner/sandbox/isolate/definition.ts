import {
  type ComponentDefinition,
  componentTypes,
  dedupeStrategies,
  knownPropTypes,
  pickedPropType,
  type PropDefinition,
} from "../../../domain/component/definition.ts";
import { definitionWarnings, type DefinitionNotes } from "../../../domain/component/definition-warnings.ts";
import { hooks } from "../../../domain/trigger.ts";
import { suggestion } from "../../../domain/nearest-name.ts";
import type { Warning } from "../../../domain/component/warning.ts";
import type { Inspection } from "../port.ts";
import { isJson, maxNesting } from "../message-size.ts";

type Fields = Readonly<Record<string, unknown>>;

const knownTypes: ReadonlySet<string> = new Set(knownPropTypes);

/** Checks a guest's description of its component: a definition, or the first thing wrong with it. */
export function readDefinition(text: string | null): Inspection {
  const found = parse(text);
  if (found === undefined)
    return reject(
      "evaluation_error",
      `the component's definition is no JSON, more than 1 MiB of it, or nested more than ${maxNesting} levels deep`,
    );
  if (found["found"] !== "component") {
    return reject(
      "no_component",
      `the component's default export is ${String(found["found"]).slice(0, maxShown)}; it must be an object with name, run and props: export default { … }`,
    );
  }
  if (found["hasRun"] !== true && found["type"] === "action") return reject("no_run", "the action has no function 'run'");
  if (found["hasRun"] !== true && !listOf(found["props"]).some(isInterface))
    return reject("no_run", "the component has neither a function 'run' nor an interface whose events it could emit as they come");
  const name = found["name"] ?? (found["takesStep"] === true ? codeStepName : undefined);
  if (typeof name !== "string" || name.trim() === "")
    return reject("no_name", `the component's name is ${shown(name)}; it must be a string, such as name: "New orders"`);
  if (name.length > maxName) return reject("no_name", `the component's name has ${name.length} characters; the limit is ${maxName}`);
  const type = found["type"] ?? "source";
  if (!isOneOf(componentTypes, type)) return reject("unknown_type", `the component's type is ${shown(type)}; it must be source or action`);
  const dedupe = found["dedupe"] ?? undefined;
  if (dedupe !== undefined && !isOneOf(dedupeStrategies, dedupe)) {
    return reject("invalid_dedupe", `the component's dedupe is ${shown(dedupe)}; it must be one of ${dedupeStrategies.join(", ")}`);
  }
  const props = readProps(found["props"]);
  if ("code" in props) return { outcome: "rejected", ...props };
  const definition: ComponentDefinition = {
    name,
    type,
    ...optionalText("key", found["key"]),
    ...optionalText("version", found["version"]),
    ...optionalText("description", found["description"]),
    ...(dedupe !== undefined && { dedupe }),
    props: props.props,
    hooks: hooks.filter((hook) => listOf(found["hooks"]).includes(hook)),
    hasAdditionalProps: found["hasAdditionalProps"] === true,
    ...((found["type"] ?? undefined) === undefined && { hasNoType: true }),
    ...(found["needsEvent"] === true && { needsEvent: true }),
    ...(type === "source" && found["takesStep"] === true && { takesStep: true }),
    ...((type === "action" || (found["type"] ?? undefined) === undefined) && found["takesEvent"] === true && { takesEvent: true }),
  };
  return { outcome: "read", definition, warnings: warningsOf(found) };
}

function warningsOf(found: Fields): readonly Warning[] {
  const props = listOf(found["props"]).filter(isFields);
  return definitionWarnings({ fields: found, props, notes: readNotes(found["notes"]) });
}

/** A guest may say anything; a description that was too long with notes comes without them. */
function readNotes(given: unknown): DefinitionNotes {
  const notes = isFields(given) ? given : {};
  return {
    keys: textsOf(notes["keys"]),
    run: typeof notes["run"] === "string" ? notes["run"] : "function",
    hooks: typeof notes["hooks"] === "string" ? notes["hooks"] : "object",
    noFunctions: pairsOf(notes["noFunctions"]),
    methods: textsOf(notes["methods"]),
    nullProps: textsOf(notes["nullProps"]),
    functionFields: pairsOf(notes["functionFields"]),
  };
}

/** Of names in notes; only a manipulated runtime sends more. */
const maxNotes = 1_000;

const textsOf = (value: unknown): readonly string[] =>
  listOf(value)
    .slice(0, maxNotes)
    .filter((each) => typeof each === "string");

const pairsOf = (value: unknown): readonly (readonly [string, string])[] =>
  listOf(value)
    .slice(0, maxNotes)
    .flatMap((each) => {
      const [first, second] = textsOf(each);
      return first === undefined || second === undefined ? [] : [[first, second] as const];
    });

/** Of a value in an error: it is answered, logged and stored. */
const maxShown = 100;
/** Name of code that is written for a step and has none. */
const codeStepName = "Code step";
/** As for its key: lists show it. */
const maxName = 255;

const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, maxShown) ?? "missing";

/** What is wrong with a prop, or with what was to be a list of them. */
export type WrongProp = { readonly code: string; readonly message: string; readonly prop?: string };

/** Prop definitions as described by a guest, or the first thing wrong with them. */
export function readProps(list: unknown): { readonly props: readonly PropDefinition[] } | WrongProp {
  const props = listOf(list).filter(isFields);
  for (const prop of props) {
    const wrong = checkProp(prop);
    if (wrong !== undefined) return wrong;
  }
  return { props: props.map(toProp) };
}

function isInterface(prop: unknown): boolean {
  return isFields(prop) && String(prop["type"]).startsWith("$.interface.");
}

function checkProp(prop: Fields): WrongProp | undefined {
  const name = String(prop["name"]);
  const named = name.slice(0, maxShown);
  const type = prop["type"];
  // As a field name it would set the prototype of whatever object holds the props.
  if (name === "__proto__") return wrongProp("invalid_prop_name", "a prop cannot be named '__proto__'; choose another name", name);
  if (typeof prop["missingDefinition"] === "string") {
    return wrongProp(
      "unknown_prop_definition",
      `prop '${named}' refers to the propDefinition '${prop["missingDefinition"].slice(0, maxShown)}', which its app does not have`,
      name,
    );
  }
  if (typeof type === "string" && (knownTypes.has(type) || pickedPropType.test(type))) return undefined;
  const what = type === undefined || type === null ? "has no type" : `has the unknown type ${shown(type)}`;
  const known = [...knownTypes];
  const hint = typeof type === "string" ? suggestion(type, known) : "";
  return wrongProp("unknown_prop_type", `prop '${named}' ${what}; known are ${known.join(", ")}${hint}`, name);
}

/** Fields whose readers count on a type; others are passed as they are written. */
const isOfType: Readonly<Record<string, (value: unknown) => boolean>> = {
  ...Object.fromEntries(["label", "description", "app"].map((field) => [field, (value: unknown) => typeof value === "string"])),
  ...Object.fromEntries(["min", "max"].map((field) => [field, Number.isFinite])),
  options: Array.isArray,
};
const flags: ReadonlySet<string> = new Set(["optional", "secret", "reloadProps", "customResponse", "remoteOptions", "hidden", "disabled"]);

/** A field of the wrong type says nothing and is left out; a flag counts as JavaScript would count it. */
function toProp(prop: Fields): PropDefinition {
  const fields = Object.entries(prop)
    .filter(([field, value]) => !Object.hasOwn(isOfType, field) || isOfType[field]?.(value) === true)
    .map(([field, value]): [string, unknown] => [field, flags.has(field) ? Boolean(value) : value]);
  return { ...Object.fromEntries(fields), name: String(prop["name"]), type: String(prop["type"]) };
}

function wrongProp(code: string, message: string, prop: string): WrongProp {
  return { code, message, prop };
}

function reject(code: string, message: string): Inspection {
  return { outcome: "rejected", code, message };
}

function parse(text: string | null): Fields | undefined {
  if (text === null || !isJson(text)) return undefined;
  const value: unknown = JSON.parse(text);
  return isFields(value) ? value : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function optionalText<Name extends string>(name: Name, value: unknown): { readonly [field in Name]?: string } {
  return (typeof value === "string" ? { [name]: value } : {}) as { readonly [field in Name]?: string };
}

function isOneOf<Value extends string>(values: readonly Value[], value: unknown): value is Value {
  return (values as readonly unknown[]).includes(value);
}
