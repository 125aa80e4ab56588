import { InvalidInput } from "../../../domain/errors.ts";
import type { FieldQuery } from "../../../domain/fields.ts";
import { HintBudget, nearestName, suggestion } from "../../../domain/nearest-name.ts";
import type { Warning } from "../../../domain/component/warning.ts";
import { type NestedNames, readNested, type UnknownField } from "./nested-names.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The names that an operation knows. */
export interface KnownNames {
  /** `POST /v1/sources`, for messages. */
  readonly operation: string;
  readonly query: readonly string[];
  readonly body: readonly string[];
  /** Objects among the fields of the body. */
  readonly nested?: ReadonlyMap<string, NestedNames>;
  /** Fields of `data`; undefined if the response has none, or any. */
  readonly fields: readonly string[] | undefined;
  /** Whether the operation changes no resource, whatever its method. */
  readonly changesNoResource: boolean;
  /** Parameters that may be absent, but not empty. */
  readonly neverEmpty: readonly string[];
}

/** Parameters and body of a request, with warnings about probable mistakes. */
export interface Given {
  readonly fields: Fields;
  /** Query and body together; where both have a name, the query's value. */
  readonly parameters: Fields;
  /** Parameters without a value, in the query or the body. */
  readonly emptyParameters: readonly string[];
  readonly warnings: readonly Warning[];
}

/** Taken by every operation (specification, "Common parameters"). */
const commonNames = ["include", "exclude", "org_id", "workspace_id"];

/** Names of parameters in other services → our names. */
const synonyms: Readonly<Record<string, string>> = {
  code: "component_code",
  url: "component_url",
  files: "component_files",
  entry: "component_entry",
  timeout: "timeout_ms",
  timeoutSeconds: "timeout_ms",
  timeout_seconds: "timeout_ms",
  source: "source_id",
  props: "configured_props",
  enabled: "active",
  per_page: "limit",
  page_size: "limit",
  channel: "event_name",
  source_id: "emitter_id",
  webhook_id: "listener_id",
  starting_after: "after",
  page_token: "after",
  cursor: "after",
  page: "after",
  offset: "after",
};

/** Pagination parameters of other services. Ignoring them would return the first page again and again. */
const pageNames = new Set(["page", "offset", "cursor", "page_token", "starting_after"]);
const firstPage = /^[01]?$/;
const maxWarnings = 20;
/** Unknown names of a deletion that are searched for misspellings. */
const maxUnknown = 50;
const maxShown = 80;
const maxListed = 12;

/**
 * Reads query and body by the names that the operation knows. Unknown names are accepted with a warning, since known clients send some.
 * @throws InvalidInput if ignoring a name would silently do something other than intended
 */
export function readGiven(query: Fields, body: Fields, method: string, known: KnownNames): Given {
  refuseRepeated(query, known);
  const named = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ""));
  // Known clients send fields of the body in the query.
  const moved = Object.fromEntries(Object.entries(named).filter(([name]) => known.body.includes(name)));
  const nested: UnknownField[] = [];
  const fields = readNested(body, known.nested ?? new Map(), { found: nested, max: maxWarnings });
  const parameters = { ...fields, ...named };
  const isEmpty = (name: string): boolean => parameters[name] === undefined || parameters[name] === "";
  const emptyParameters = [...new Set([...Object.keys(query), ...Object.keys(body)])].filter(isEmpty);
  refuseEmpty(emptyParameters, known);
  const given = { fields: { ...fields, ...moved }, parameters, emptyParameters };
  const unknownParameters = unknownOf(Object.keys(query), known);
  const unknownFields = unknownOf(Object.keys(body), known);
  refuseOtherPages(named, known);
  if (method === "DELETE") refuseMisspelled([...unknownParameters, ...unknownFields], known);
  refuseUnknownBody(body, unknownFields, named, known);
  const budget = new HintBudget();
  const warnings = [
    ...unknownParameters.slice(0, maxWarnings).map((name) => warning("unknown_parameter", "query parameter", name, known, budget)),
    ...unknownFields.slice(0, maxWarnings).map((name) => warning("unknown_field", "field", name, known, budget)),
    ...nested.map((field) => nestedWarning(field, budget)),
  ];
  return { ...given, warnings: warnings.slice(0, maxWarnings) };
}

/** @throws InvalidInput for a field of `include` or `exclude` that the response never has */
export function checkSelectedFields(selected: FieldQuery, fields: readonly string[] | undefined): void {
  if (fields === undefined) return;
  for (const [parameter, list] of Object.entries(selected)) {
    const names = String(list ?? "").split(",");
    const unknown = names.map((name) => name.trim()).find((name) => name !== "" && !fields.includes(name));
    if (unknown === undefined) continue;
    throw new InvalidInput(
      `${parameter} names the field '${unknown.slice(0, maxShown)}', which the response does not have${hint(unknown, fields)}; it has ${fields.join(", ")}`,
      { code: "unknown_field" },
    );
  }
}

/** No parameter takes several values: one of them would be ignored. */
function refuseRepeated(query: Fields, known: KnownNames): void {
  const [repeated] = Object.entries(query).filter(([name, value]) => Array.isArray(value) && candidatesOf(known).includes(name));
  if (repeated === undefined) return;
  const [name, values] = repeated;
  const message = `is given ${(values as readonly unknown[]).length} times: give it once`; // An array by the lines above.
  throw new InvalidInput(`${name} ${message}`, { details: [{ field: name, message }] });
}

/** An unset variable of a script must not widen what the operation does. */
function refuseEmpty(empty: readonly string[], { neverEmpty }: KnownNames): void {
  const name = empty.find((each) => neverEmpty.includes(each));
  if (name === undefined) return;
  const message = "is empty: give it a value, or leave it out";
  throw new InvalidInput(`nothing was done: ${name} ${message}`, { details: [{ field: name, message }] });
}

function unknownOf(names: readonly string[], { query, body }: KnownNames): readonly string[] {
  const known = new Set([...query, ...body, ...commonNames]);
  return names.filter((name) => !known.has(name));
}

function refuseOtherPages(query: Fields, { query: known }: KnownNames): void {
  if (!known.includes("limit")) return;
  const name = Object.keys(query).find((each) => pageNames.has(each) && !known.includes(each) && !firstPage.test(String(query[each])));
  if (name === undefined) return;
  const right = known.includes("after") ? "pages follow cursors: send after=<end_cursor of the page before>" : "this list has one page";
  throw new InvalidInput(`${name}=${String(query[name]).slice(0, maxShown)} is not possible: ${right}`, { code: "unknown_page" });
}

/** A deletion cannot be undone, and most have no response body for warnings. */
function refuseMisspelled(unknown: readonly string[], known: KnownNames): void {
  const names = candidatesOf(known);
  const budget = new HintBudget();
  if (unknown.length > maxUnknown)
    throw new InvalidInput(
      `nothing was deleted: ${known.operation} does not know ${unknown.length} of the given names: send at most ${maxUnknown}`,
      {
        code: "unknown_parameter",
      },
    );
  const wrong = unknown.find((name) => nearestName(translated(name, names), names, budget) !== undefined);
  if (wrong === undefined) return;
  throw new InvalidInput(`nothing was deleted: ${known.operation} does not know '${wrong.slice(0, maxShown)}'${hint(wrong, names)}`, {
    code: "unknown_parameter",
  });
}

/** Refuses a body without known fields, because ignoring it would mislead the client. */
function refuseUnknownBody(body: Fields, unknown: readonly string[], query: Fields, known: KnownNames): void {
  const isRead = unknown.length < Object.keys(body).length || Object.keys(query).some((name) => known.body.includes(name));
  if (unknown.length === 0 || isRead || known.body.length === 0 || known.changesNoResource) return;
  const [first = ""] = unknown;
  throw new InvalidInput(
    `no field of the body is known: ${known.operation} takes ${known.body.join(", ")}, and not '${first.slice(0, maxShown)}'${hint(first, known.body)}`,
    { code: "unknown_field" },
  );
}

function warning(code: string, what: string, name: string, known: KnownNames, budget: HintBudget): Warning {
  const shown = name.slice(0, maxShown);
  const names = namesOf(known);
  const listed = names.length > 0 && names.length <= maxListed ? `; ${known.operation} takes ${names.join(", ")}` : "";
  return {
    code,
    message: `the ${what} '${shown}' is unknown and was ignored${hint(name, candidatesOf(known), budget) || listed}`,
    path: shown,
  };
}

function nestedWarning({ path, name, known }: UnknownField, budget: HintBudget): Warning {
  const shown = path.slice(0, maxShown);
  const otherwise = known.length <= maxListed ? `; known there are ${known.join(", ")}` : "";
  const message = `the field '${shown}' is unknown and was ignored${hint(name, known, budget) || otherwise}`;
  return { code: "unknown_field", message, path: shown };
}

const namesOf = ({ query, body }: KnownNames): readonly string[] => [...new Set([...query, ...body])];

/** Candidates for suggestions. */
const candidatesOf = (known: KnownNames): readonly string[] => [...namesOf(known), ...commonNames];

/** Translates another service's name to ours. */
function translated(name: string, known: readonly string[]): string {
  const ours = Object.hasOwn(synonyms, name) ? synonyms[name] : undefined;
  return ours !== undefined && known.includes(ours) ? ours : name;
}

const hint = (name: string, known: readonly string[], budget?: HintBudget): string =>
  suggestion(translated(name, known), known, "", budget);
