import { hooks } from "../trigger.ts";
import { HintBudget, nearestName, suggestion } from "../nearest-name.ts";
import { propWarnings } from "./prop-warnings.ts";
import type { Warning } from "./warning.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The JSON part of a module's definition. All of it is unchecked. */
export interface RawDefinition {
  /** Top-level fields, `name` and the like, and the props as a list. */
  readonly fields: Fields;
  readonly props: readonly Fields[];
  readonly notes: DefinitionNotes;
}

/** The parts of a definition that JSON cannot represent. */
export interface DefinitionNotes {
  /** Names of all top-level fields. */
  readonly keys: readonly string[];
  /** `function`, `undefined`, `array`, `null` … */
  readonly run: string;
  readonly hooks: string;
  /** Hooks that are not functions, with their types. */
  readonly noFunctions: readonly (readonly [name: string, kind: string])[];
  readonly methods: readonly string[];
  readonly nullProps: readonly string[];
  /** Fields of props that must not be functions, but are. */
  readonly functionFields: readonly (readonly [prop: string, field: string])[];
}

const topLevelKeys = [
  "name",
  "key",
  "type",
  "version",
  "description",
  "props",
  "methods",
  "hooks",
  "dedupe",
  "run",
  "additionalProps",
  "sampleEmit",
  "annotations",
];
const maxWarnings = 50;

/** Probable mistakes. They are not errors, because public components break small rules of the format. */
export function definitionWarnings(definition: RawDefinition): readonly Warning[] {
  const { notes, props } = definition;
  const budget = new HintBudget();
  const all = [
    ...keyWarnings(notes, budget),
    ...textWarnings(definition.fields),
    ...runWarnings(notes),
    ...hookWarnings(definition, budget),
    ...nullWarnings(notes),
  ];
  for (const prop of props) {
    if (all.length >= maxWarnings) break;
    all.push(...propWarnings(prop, notes, budget));
  }
  return all.slice(0, maxWarnings);
}

/** Warns only about unknown keys that resemble a known one. */
function keyWarnings({ keys }: DefinitionNotes, budget: HintBudget): readonly Warning[] {
  return keys.flatMap((key) => {
    const nearest = topLevelKeys.includes(key) ? undefined : nearestName(key, topLevelKeys, budget);
    if (nearest === undefined || keys.includes(nearest)) return [];
    return [{ code: "unknown_key", message: `'${key}' is unknown and has no effect: did you mean ${nearest}?`, path: key }];
  });
}

function textWarnings({ version, key, description }: Fields): readonly Warning[] {
  const texts = Object.entries({ key, description }).filter(
    ([, value]) => value !== undefined && value !== null && typeof value !== "string",
  );
  return [
    ...versionWarnings(version),
    ...texts.map(([name, value]) => ({
      code: "invalid_field",
      message: `${name} is ${kindOf(value)} and was ignored: it must be a string`,
      path: name,
    })),
  ];
}

/** A prop that is undefined has no warning: public components leave out props so. */
const nullWarnings = ({ nullProps }: DefinitionNotes): readonly Warning[] =>
  nullProps.map((name) => ({
    code: "invalid_prop",
    message: `prop '${name}' is null and was ignored: give it a type, such as ${name}: "string", or remove it`,
    path: `props.${name}`,
  }));

function versionWarnings(version: unknown): readonly Warning[] {
  const right = 'write it as a string, such as version: "0.1.0"';
  if (version === undefined || version === null)
    return [{ code: "version_missing", message: `version is missing: ${right}`, path: "version" }];
  if (typeof version === "string") return [];
  const shown = typeof version === "number" ? ` ${version}` : "";
  return [{ code: "invalid_version", message: `version${shown} is ${kindOf(version)} and was ignored: ${right}`, path: "version" }];
}

function runWarnings({ run, keys }: DefinitionNotes): readonly Warning[] {
  if (run === "function" || !keys.includes("run")) return [];
  return [{ code: "invalid_run", message: `run is ${withArticle(run)} and is never called: it must be a function`, path: "run" }];
}

function hookWarnings({ fields, notes }: RawDefinition, budget: HintBudget): readonly Warning[] {
  if (notes.hooks !== "object" && notes.hooks !== "undefined" && notes.hooks !== "null")
    return [
      {
        code: "invalid_hooks",
        message: `hooks is ${withArticle(notes.hooks)}: it must be an object with ${hooks.join(", ")}`,
        path: "hooks",
      },
    ];
  const isKnown = (name: string): boolean => (hooks as readonly string[]).includes(name);
  const functions = Array.isArray(fields["hooks"]) ? fields["hooks"].filter((name) => typeof name === "string") : [];
  const names = [...functions, ...notes.noFunctions.map(([name]) => name)];
  const unknown = names.filter((name) => !isKnown(name)).slice(0, maxWarnings);
  const broken = notes.noFunctions.filter(([name, kind]) => isKnown(name) && kind !== "undefined" && kind !== "null");
  return [
    ...unknown.map((name) => ({
      code: "unknown_hook",
      message: `hook '${name}' is unknown and is never called${suggestion(name, hooks, `: hooks are ${hooks.join(", ")}`, budget)}`,
      path: `hooks.${name}`,
    })),
    ...broken.map(([name, kind]) => ({
      code: "invalid_hook",
      message: `hook '${name}' is ${withArticle(kind)} and is never called: it must be a function`,
      path: `hooks.${name}`,
    })),
  ];
}

/** `a string`, `an array`. */
export function kindOf(value: unknown): string {
  return withArticle(value === null ? "null" : Array.isArray(value) ? "array" : typeof value);
}

const withArticle = (kind: string): string =>
  kind === "null" || kind === "undefined" ? kind : `${/^[aeio]/.test(kind) ? "an" : "a"} ${kind}`;
