/** A component as user code wrote it: untrusted. */
export type Fields = Record<string, unknown>;

const maxNesting = 10;

export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

/** The component of a module namespace: `export default`, the default of a default, or `module.exports`. */
export function findComponent(namespace: unknown): unknown {
  let found = namespace;
  for (let depth = 0; depth < 3; depth++) {
    if (!isObject(found) || !("default" in found) || looksLikeComponent(found)) break;
    found = found["default"];
  }
  return found;
}

function looksLikeComponent(value: Fields): boolean {
  return typeof value["run"] === "function" || isObject(value["props"]);
}

export function functionsOf(owner: unknown): [string, unknown][] {
  return isObject(owner) ? Object.entries(owner) : [];
}

/** A prop with everything resolved from app definitions. */
export interface ResolvedProp {
  readonly fields: Fields;
  /** The app that its options come from; undefined when they are the component's own. */
  readonly app: unknown;
  /** The third elements of the references it was resolved by, the component's own first. */
  readonly inputs: readonly unknown[];
}

/** Props in order, type shorthands and prop definitions of apps resolved; local fields override. Skips undefined and null. */
export function resolveProps(component: Fields): [name: string, prop: Fields][] {
  return propsOf(component["props"]).map(([name, prop]) => [name, resolveProp(prop).fields]);
}

export function propsOf(props: unknown): [name: string, prop: unknown][] {
  return functionsOf(props).filter(([, prop]) => prop !== undefined && prop !== null);
}

export function resolveProp(prop: unknown, depth = 0): ResolvedProp {
  const own = isObject(prop) ? prop : { type: prop };
  const reference = own["propDefinition"];
  if (!Array.isArray(reference) || depth > maxNesting) return { fields: own, app: undefined, inputs: [] };
  const [app, definition, inputs] = reference as unknown[];
  const definitions = isObject(app) ? app["propDefinitions"] : undefined;
  const name = String(definition);
  const base = isObject(definitions) && Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  if (base === undefined) return { fields: { type: undefined, missingDefinition: name, ...own }, app: undefined, inputs: [] };
  const resolved = resolveProp(base, depth + 1);
  return {
    fields: { ...resolved.fields, ...own },
    app: own["options"] === undefined ? (resolved.app ?? app) : undefined,
    inputs: [inputs, ...resolved.inputs],
  };
}
