import { bindApp, isSameApp } from "./app.ts";
import { type Fields, functionsOf, isObject, propsOf, resolveProp, resolveProps } from "./component.ts";
import { dataStoreProp } from "./data-store.ts";
import { sharedStoreProp } from "./shared-store.ts";
import { databaseProp, type StoredKeys } from "./database.ts";
import { directoryProp } from "./directory.ts";
import { emitter } from "./emit.ts";
import { httpProp } from "./http-interface.ts";
import type * as httpRequest from "./http-request.ts";

// Evaluated with the first prop of that type, since it loads `fetch`.
declare function require(path: "./http-request.ts"): typeof httpRequest;

/** What `this.<prop>` of a `file` prop is. */
export type OpenFile = (prop: string, value: unknown) => unknown;

/** Inputs of one run. */
export interface RunInputs {
  /** Configured values by prop name, secrets included; `{$auth}` for app props. */
  readonly props: Fields;
  /** prop name → key → JSON text; null: an action, which has no database. */
  readonly db: Record<string, Record<string, string>> | null;
  readonly endpoint: string | null;
  /** Result of `additionalProps` when the source was configured: `{name, type, app?}`. */
  readonly additional: readonly Fields[];
  /** Names of the props that have a data store, which the host knows. */
  readonly stores: readonly string[];
  readonly openFile: OpenFile;
}

/** `this` of run, hooks and methods: props, methods bound to it, `$emit`. */
export function bindComponent(component: Fields, inputs: RunInputs): Fields {
  const self: Fields = {};
  const props = new Map(resolveProps(component));
  for (const prop of inputs.additional) props.set(String(prop["name"]), additionalProp(component, prop));
  for (const [name, prop] of props) self[name] = propValue(name, prop, inputs);
  // Values of additional props whose definitions are unknown.
  for (const name of Object.keys(inputs.props)) {
    if (!props.has(name)) self[name] = inputs.props[name];
  }
  for (const [name, method] of functionsOf(component["methods"])) {
    self[name] = typeof method === "function" ? method.bind(self) : method;
  }
  self["$emit"] = emitter();
  return self;
}

/** An additional app prop uses the code of the component's app with the same slug. */
function additionalProp(component: Fields, prop: Fields): Fields {
  const app = prop["type"] === "app" ? appsOf(component).find((known) => isSameApp(known, prop)) : undefined;
  return { ...app, ...prop };
}

/** All apps that the component mentions: as props, or in references to their prop definitions. */
function appsOf(component: Fields): Fields[] {
  const props = propsOf(component["props"]).flatMap(([, prop]) => {
    const { fields, app } = resolveProp(prop);
    return [fields, app];
  });
  return props.filter((app): app is Fields => isObject(app) && app["type"] === "app");
}

function propValue(name: string, prop: Fields, inputs: RunInputs): unknown {
  const given = prop["static"] ?? inputs.props[name];
  switch (prop["type"]) {
    case "$.service.db":
      return databaseProp(name, storedKeys(name, inputs));
    case "data_store":
      return inputs.stores.includes(name) ? sharedStoreProp(name) : dataStoreProp(name, storedKeys(name, inputs));
    case "$.interface.http":
      return httpProp(inputs.endpoint);
    case "app":
      return bindApp(prop, given);
    case "dir":
      return directoryProp(name);
    case "http_request":
      return require("./http-request.ts").httpRequestProp(given ?? prop["default"]);
    case "sql":
      return sqlProp(given ?? prop["default"]);
    case "file":
      return fileOf(name, given ?? prop["default"], inputs);
    case "file[]":
      return filesOf(name, given ?? prop["default"], inputs);
    default:
      return given === undefined ? prop["default"] : given;
  }
}

/** Absent values stay so, and a form may leave an empty text. */
const fileOf = (name: string, given: unknown, { openFile }: RunInputs): unknown =>
  given === undefined || given === null || given === "" ? undefined : openFile(name, given);

const filesOf = (name: string, given: unknown, inputs: RunInputs): unknown =>
  Array.isArray(given) ? given.map((each: unknown) => fileOf(name, each, inputs)) : undefined;

const storedKeys = (name: string, { db }: RunInputs): StoredKeys => (db === null ? null : db[name]);

/** Normalizes a value to `{query, params}`; a string is the query. */
function sqlProp(given: unknown): Fields | undefined {
  if (given === undefined || given === null) return undefined;
  return isObject(given) ? { params: [], ...given } : { query: given, params: [] };
}
