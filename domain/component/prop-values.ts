import type { ComponentDefinition, PropDefinition } from "./definition.ts";
import { InvalidInput, maxDetails } from "../errors.ts";
import { chosenValue, unlabel } from "./labelled-value.ts";
import { HintBudget, suggestion } from "../nearest-name.ts";
import { complaintAbout, type PropComplaint } from "./prop-types.ts";

/** Checked `configured_props` of a source. */
export interface CheckedProps {
  /** Given values by prop name, without null and values that the system provides. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Names of secret props among `values`, which must be sealed before they are stored. */
  readonly secrets: readonly string[];
}

/** Types that the system provides: values that clients send back from a response are accepted and dropped. */
const valueless: ReadonlySet<string> = new Set(["alert", "dir", "$.interface.http", "$.interface.apphook", "$.service.db"]);

export function needsNoValue(prop: PropDefinition): boolean {
  return valueless.has(prop.type);
}

/** The effective value: `static`, or configured, or by default; undefined if there is none. */
export function valueOf(prop: PropDefinition, values: Readonly<Record<string, unknown>>): unknown {
  if (isFixed(prop)) return prop.static;
  return (Object.hasOwn(values, prop.name) ? values[prop.name] : prop.default) ?? undefined;
}

const isFixed = (prop: PropDefinition): boolean => prop.static !== undefined && prop.static !== null;

/**
 * Checks values against the props that a component defines (specification, "Component definition format" and "Limits"). `sealed`
 * names the secret props whose values are sealed, so that only their presence is checked. If a component has additional
 * props, which only its code knows, unknown names are accepted.
 * @throws InvalidInput that lists every problem, never with the value of a secret prop
 */
export function checkConfiguredProps(
  definition: ComponentDefinition,
  given: Readonly<Record<string, unknown>>,
  sealed: ReadonlySet<string> = new Set(),
): CheckedProps {
  const props = new Map(definition.props.map((prop) => [prop.name, prop]));
  const values = Object.fromEntries(
    Object.entries(given).filter(([name, value]) => value !== null && value !== undefined && !valueless.has(props.get(name)?.type ?? "")),
  );
  const complaints = [
    ...unknownNames(definition, values),
    ...definition.props.filter((prop) => isMissing(definition, prop, values)).map(missing),
    ...definition.props
      .filter((prop) => Object.hasOwn(values, prop.name) && !sealed.has(prop.name))
      .map((prop) => complaintAbout(prop, values[prop.name])),
  ]
    .filter((complaint) => complaint !== undefined)
    .slice(0, maxDetails);
  if (complaints.length > 0)
    throw new InvalidInput(complaints.map(({ message }) => message).join("; "), {
      code: "invalid_props",
      details: complaints,
    });
  return { values, secrets: Object.keys(values).filter((name) => props.get(name)?.secret === true) };
}

/**
 * The values on the component's instance: defaults for absent values, and labelled values as plain ones (as `{label, value}`
 * if the prop has `withLabel`). Secrets are not included; the process that can open them adds them.
 */
export function runtimeProps(
  definition: ComponentDefinition,
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const known = definition.props
    .filter((prop) => !needsNoValue(prop))
    .flatMap((prop): [string, unknown][] => {
      const value = valueOf(prop, values);
      return value === undefined ? [] : [[prop.name, runtimeValue(prop, value)]];
    });
  const names = new Set(definition.props.map(({ name }) => name));
  const additional = Object.entries(values)
    .filter(([name]) => !names.has(name))
    .map(([name, value]): [string, unknown] => [name, unlabel(value, false)]);
  return Object.fromEntries([...known, ...additional]);
}

/** With `withLabel` always `{label, value}`, whatever the given form. */
function runtimeValue(prop: PropDefinition, value: unknown): unknown {
  const keepsLabel = prop["withLabel"] === true;
  const chosen = chosenValue(prop.type, value, keepsLabel);
  if (!keepsLabel || !/^(string|integer)(\[\])?$/.test(prop.type)) return chosen;
  return Array.isArray(chosen) ? chosen.map((each) => labelled(prop, each)) : labelled(prop, chosen);
}

function labelled({ options = [] }: PropDefinition, value: unknown): unknown {
  if (typeof value !== "string" && typeof value !== "number") return value;
  const option = options.find((each) => isFields(each) && each["value"] === value);
  return { label: isFields(option) ? option["label"] : String(value), value };
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** Names of props in one message. */
const maxListed = 50;
/** Characters of an unknown name. */
const maxShown = 200;

function unknownNames(definition: ComponentDefinition, values: Readonly<Record<string, unknown>>): readonly PropComplaint[] {
  if (definition.hasAdditionalProps) return [];
  const names = definition.props.map(({ name }) => name);
  const listed = names.length > maxListed ? [...names.slice(0, maxListed), "…"] : names;
  const known = names.length === 0 ? "the component has no props" : `the component has ${listed.join(", ")}`;
  const isKnown = new Set(names);
  const budget = new HintBudget();
  return Object.keys(values)
    .filter((name) => !isKnown.has(name))
    .slice(0, maxDetails)
    .map((name) => {
      const prop = name.slice(0, maxShown);
      return {
        prop,
        code: "unknown_prop",
        message: `prop '${prop}' is unknown: ${known}${suggestion(name, names, "", budget).replace(/^:/, ";")}`,
      };
    });
}

/** Props that need no value: hidden ones cannot get one, and a data store is the source's own. */
function isMissing(definition: ComponentDefinition, prop: PropDefinition, values: Readonly<Record<string, unknown>>): boolean {
  const isOwn = prop.type === "data_store" || (prop.type === "app" && definition.needsNoAccounts === true);
  const isAskedFor = prop.optional !== true && prop.hidden !== true && prop.disabled !== true && !isOwn;
  return isAskedFor && !needsNoValue(prop) && valueOf(prop, values) === undefined;
}

/** Descriptions of types whose names do not describe them. */
const examples: Readonly<Record<string, string>> = {
  app: 'an account, {"authProvisionId": "apn_…"}',
  "$.interface.timer": '{"intervalSeconds": 900} or {"cron": "0 9 * * *", "timezone": "Europe/Berlin"}',
  file: '"/tmp/report.pdf" or "https://example.com/report.pdf"',
  http_request: '{"method": "GET", "url": "https://…"}',
  sql: '{"query": "select 1"}',
};

function missing(prop: PropDefinition): PropComplaint {
  const example = Object.hasOwn(examples, prop.type) ? `, such as ${examples[prop.type]}` : "";
  return { prop: prop.name, message: `prop '${prop.name}' is missing: it needs a value of type ${prop.type}${example}` };
}
