import { type HintBudget, nearestName } from "../nearest-name.ts";
import { complaintAbout } from "./prop-types.ts";
import { needsNoValue } from "./prop-values.ts";
import type { PropDefinition } from "./definition.ts";
import type { Warning } from "./warning.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The parts of a definition that a prop's warnings depend on. */
interface Surroundings {
  readonly methods: readonly string[];
  readonly functionFields: readonly (readonly [prop: string, field: string])[];
}

const flags = ["optional", "secret", "reloadProps", "customResponse", "hidden", "disabled"];
const knownFields = [
  ...flags,
  "type",
  "label",
  "description",
  "default",
  "options",
  "min",
  "max",
  "propDefinition",
  "app",
  "static",
  "useQuery",
  "withLabel",
  "readOnly",
  "format",
  "appProp",
  "alertType",
  "content",
];
/** Names of other members of `this`, and names that JavaScript reads implicitly. */
const reservedNames: ReadonlyMap<string, string> = new Map([
  ["$emit", "this.$emit is the function that emits, so its value is never seen"],
  ["run", "run is the component's own function: choose another name"],
  ["then", "JavaScript takes an object with then for a promise: choose another name"],
  ["constructor", "every object has a constructor: choose another name"],
  ["toString", "every object has a function toString: choose another name"],
]);

/**
 * @param prop as in the component, with `name`; only its type is checked
 * @param budget of the definition
 */
export function propWarnings(prop: Fields, surroundings: Surroundings, budget: HintBudget): readonly Warning[] {
  const name = String(prop["name"]).slice(0, 100);
  const type = String(prop["type"]);
  const at = (field: string): string => `props.${name}.${field}`;
  const found = [
    ...nameWarnings(name, surroundings.methods),
    ...fieldWarnings(prop, type, at, budget),
    ...defaultWarnings(prop, type, at("default")),
    ...optionWarnings(prop["options"], at("options")),
    ...(type === "app" && typeof prop["app"] !== "string"
      ? [
          warning(
            "app_missing",
            'app is missing: write the slug of the app, such as app: "github", since accounts are kept by it',
            at("app"),
          ),
        ]
      : []),
    ...boundWarnings(prop, type, at),
    ...surroundings.functionFields
      .filter(([owner, field]) => owner === name && type !== "app" && knownFields.includes(field))
      .map(([, field]) => warning("invalid_field", `${field} is a function and was ignored: it must be a value`, at(field))),
  ];
  return found.map(({ message, ...rest }) => ({ ...rest, message: `prop '${name}': ${message}` }));
}

const warning = (code: string, message: string, path: string): Warning => ({ code, message, path });

function nameWarnings(name: string, methods: readonly string[]): readonly Warning[] {
  const path = `props.${name}`;
  const reserved = reservedNames.get(name);
  return [
    ...(reserved === undefined ? [] : [warning("reserved_name", reserved, path)]),
    ...(methods.includes(name)
      ? [warning("prop_and_method", `a method has the same name, so this.${name} is the method and never the value`, path)]
      : []),
  ];
}

/** Fields of an app are not checked. */
function fieldWarnings(prop: Fields, type: string, at: (field: string) => string, budget: HintBudget): readonly Warning[] {
  const unknown = type === "app" ? [] : Object.keys(prop).filter((field) => field !== "name" && !knownFields.includes(field));
  return [
    ...unknown.flatMap((field) => {
      const nearest = nearestName(field, knownFields, budget);
      if (nearest === undefined || Object.hasOwn(prop, nearest)) return [];
      return [
        warning(
          "unknown_field",
          `'${field.slice(0, 100)}' is unknown and has no effect: did you mean ${nearest}?`,
          at(field.slice(0, 100)),
        ),
      ];
    }),
    ...flags
      .filter((flag) => prop[flag] !== undefined && prop[flag] !== null && typeof prop[flag] !== "boolean")
      .map((flag) =>
        warning("invalid_field", `${flag} counts as ${Boolean(prop[flag])}: it must be true or false, without quotes`, at(flag)),
      ),
    ...["label", "description", "app"]
      .filter((text) => prop[text] !== undefined && prop[text] !== null && typeof prop[text] !== "string")
      .map((text) => warning("invalid_field", `${text} was ignored: it must be a string`, at(text))),
    ...(prop["customResponse"] !== undefined && type !== "$.interface.http"
      ? [warning("no_effect", "customResponse means something only on a prop of type $.interface.http", at("customResponse"))]
      : []),
  ];
}

function defaultWarnings(prop: Fields, type: string, path: string): readonly Warning[] {
  const value = prop["default"];
  if (value === undefined || value === null || type === "app") return [];
  const definition = asDefinition(prop, type);
  if (needsNoValue(definition)) return [warning("no_effect", `default has no effect: the system gives a ${type} its value`, path)];
  const complaint = complaintAbout(definition, value);
  return complaint === undefined ? [] : [warning("invalid_default", complaint.message.replace(/^prop '.*?'(:| )/s, "default$1"), path)];
}

function optionWarnings(options: unknown, path: string): readonly Warning[] {
  if (options === undefined || options === null) return [];
  const right = "an array of values or of {label, value}, or a function";
  if (!Array.isArray(options)) return [warning("invalid_options", `options was ignored: it must be ${right}`, path)];
  const wrong = options.findIndex((option) => !isOption(option));
  if (wrong === -1) return [];
  const shown = JSON.stringify(options[wrong])?.slice(0, 100);
  return [warning("invalid_options", `options[${wrong}] is ${shown}: options must be ${right}`, `${path}[${wrong}]`)];
}

function isOption(option: unknown): boolean {
  if (["string", "number", "boolean"].includes(typeof option)) return true;
  return typeof option === "object" && option !== null && !Array.isArray(option) && "label" in option && "value" in option;
}

function boundWarnings(prop: Fields, type: string, at: (field: string) => string): readonly Warning[] {
  const isInteger = type === "integer" || type === "integer[]";
  const bounds = ["min", "max"].filter((bound) => prop[bound] !== undefined && prop[bound] !== null);
  const noNumber = bounds.filter((bound) => typeof prop[bound] !== "number");
  const [min, max] = [prop["min"], prop["max"]];
  return [
    ...(isInteger ? noNumber : bounds).map((bound) =>
      isInteger
        ? warning("invalid_field", `${bound} was ignored: it must be a number`, at(bound))
        : warning("no_effect", `${bound} has no effect: it bounds props of type integer, and this one is ${type}`, at(bound)),
    ),
    ...(isInteger && typeof min === "number" && typeof max === "number" && min > max
      ? [warning("invalid_bounds", `min ${min} is larger than max ${max}, so that no value fits`, at("min"))]
      : []),
    ...(prop["secret"] === true && type !== "string"
      ? [warning("no_effect", `secret is meant for props of type string, and this one is ${type}`, at("secret"))]
      : []),
  ];
}

/** The fields that value checks use, with their expected types. */
function asDefinition(prop: Fields, type: string): PropDefinition {
  const { min, max, options } = prop;
  return {
    name: "default",
    type,
    ...(prop["secret"] === true ? { secret: true } : {}),
    ...(typeof min === "number" ? { min } : {}),
    ...(typeof max === "number" ? { max } : {}),
    ...(Array.isArray(options) ? { options } : {}),
    ...(prop["remoteOptions"] === true ? { remoteOptions: true } : {}),
  };
}
