import { appSlugOf, entriesOf, isAuthProp, isFields, isFunction, own, textOf, type Fields, type Piece, type Self } from "./contract.ts";
import { authFrom } from "./auth.ts";
import { propertyContext } from "./context.ts";

/** Props of a component by name, as its definition has them. */
export type Props = Record<string, Fields>;

/** What the props of a member are made of. */
export interface Described {
  readonly piece: Piece;
  readonly packageName: string;
  readonly member: Fields;
}

/** The names of the props that are ours, which no prop of the member has. */
export interface OwnNames {
  readonly app: string;
  readonly db: string;
  readonly http: string;
  readonly timer: string;
  readonly secret: string;
}

const simpleTypes: ReadonlyMap<unknown, string> = new Map([
  ["SHORT_TEXT", "string"],
  ["LONG_TEXT", "string"],
  ["DATE_TIME", "string"],
  ["COLOR", "string"],
  ["SECRET_TEXT", "string"],
  ["FILE", "string"],
  ["CHECKBOX", "boolean"],
  ["OBJECT", "object"],
  ["DYNAMIC", "object"],
  ["NUMBER", "any"],
  ["JSON", "any"],
  ["DROPDOWN", "any"],
  ["MULTI_SELECT_DROPDOWN", "any"],
]);

/** Between the name of a dynamic prop and those of the props in it. */
const joint = "_";

/** Names of our own props, different from those of the member. */
export function ownNames({ packageName, member }: Described): OwnNames {
  const taken = new Set(entriesOf(member["props"]).map(([name]) => name));
  const free = (name: string): string => (taken.has(name) ? free(`${name}_`) : name);
  return {
    app: free(appSlugOf(packageName)),
    db: free("db"),
    http: free("http"),
    timer: free("timer"),
    secret: free("webhook_secret"),
  };
}

/** The app prop of a piece that authenticates, and the props of its action or trigger. */
export function propsOf(described: Described): Props {
  const { piece, member } = described;
  const names = ownNames(described);
  const props: Props = {};
  if (piece.auth.length > 0)
    props[names.app] = {
      ...appOf(described),
      label: piece.displayName,
      ...(member["requireAuth"] === false || piece.auth.every((auth) => auth["required"] === false) ? { optional: true } : {}),
    };
  const reloading = new Set(dynamicProps(member).flatMap(([, prop]) => (Array.isArray(prop["refreshers"]) ? prop["refreshers"] : [])));
  for (const [name, prop] of entriesOf(member["props"])) {
    if (!isFields(prop) || name === "__proto__") continue;
    props[name] = { ...propOf(name, prop, described), ...(reloading.has(name) ? { reloadProps: true } : {}) };
  }
  return props;
}

const appOf = ({ packageName }: Described): Fields => ({ type: "app", app: appSlugOf(packageName) });

export const dynamicProps = (member: Fields): [string, Fields][] =>
  entriesOf(member["props"]).filter((entry): entry is [string, Fields] => own(entry[1], "type") === "DYNAMIC");

/** One prop of ours for one of theirs. */
function propOf(name: string, prop: Fields, described: Described): Fields {
  const { type } = prop;
  const texts = { label: textOf(prop["displayName"]) ?? name, ...(textOf(prop["description"]) && { description: prop["description"] }) };
  if (isAuthProp(prop)) return { ...texts, ...(prop["required"] === true ? {} : { optional: true }), ...appOf(described) };
  if (type === "MARKDOWN") return { type: "alert", alertType: "info", content: textOf(prop["description"]) ?? "" };
  const common = {
    ...texts,
    ...(prop["required"] === true && type !== "DYNAMIC" ? {} : { optional: true }),
    ...(prop["defaultValue"] === undefined || prop["defaultValue"] === null ? {} : { default: prop["defaultValue"] }),
  };
  if (type === "STATIC_DROPDOWN" || type === "STATIC_MULTI_SELECT_DROPDOWN") {
    const options = optionsIn(prop["options"]);
    return { ...common, type: typeOfValues(options, type !== "STATIC_DROPDOWN"), options };
  }
  if (type === "DROPDOWN" || type === "MULTI_SELECT_DROPDOWN")
    return { ...common, type: "any", options: asyncOptions(name, prop, described) };
  if (type === "ARRAY") return { ...common, type: Object.keys(own(prop, "properties") ?? {}).length > 0 ? "any" : "string[]" };
  return { ...common, type: simpleTypes.get(type) ?? "any", ...(type === "SECRET_TEXT" ? { secret: true } : {}) };
}

interface Option {
  readonly label: string;
  readonly value: unknown;
}

/** The options of a dropdown, without those that have no value. */
function optionsIn(state: unknown): Option[] {
  const options = own(state, "options");
  return (Array.isArray(options) ? options : []).flatMap((option) => {
    const value = own(option, "value");
    return value === undefined || value === null ? [] : [{ label: textOf(own(option, "label")) ?? String(value), value }];
  });
}

function typeOfValues(options: readonly Option[], isList: boolean): string {
  const all = (is: (value: unknown) => boolean): boolean => options.length > 0 && options.every(({ value }) => is(value));
  const type = all((value) => typeof value === "string") ? "string" : all(Number.isInteger) ? "integer" : "any";
  return isList && type !== "any" ? `${type}[]` : type;
}

/** `options` that asks the piece, with the values that were chosen so far. */
function asyncOptions(name: string, prop: Fields, described: Described) {
  return async function options(this: Self, { query }: { readonly query?: string } = {}): Promise<Option[]> {
    const load = prop["options"];
    if (!isFunction(load)) return [];
    const state = await Reflect.apply(load, prop, [refreshedValues(this, described), propertyContext(query)]);
    const found = optionsIn(state);
    const why = textOf(own(state, "placeholder"));
    if (found.length === 0 && own(state, "disabled") === true && why !== undefined) throw new Error(`${name}: ${why}`);
    return found;
  };
}

/** `auth` and the values of the props so far, as functions of a prop get them. */
function refreshedValues(self: Self, { piece, packageName, member }: Described): Fields {
  const { app } = ownNames({ piece, packageName, member });
  const values = entriesOf(member["props"]).map(([name, prop]) => [
    name,
    isAuthProp(prop) ? memberAuth(piece, prop, self[name]) : self[name],
  ]);
  return { ...Object.fromEntries(values), auth: authFrom(piece, self[app]) };
}

/** The value of a prop that holds the authentication. */
export const memberAuth = ({ isTyped }: Piece, prop: Fields, app: unknown): unknown => authFrom({ auth: [prop], isTyped }, app);

/** What the definition of a component says of the action or trigger. */
export function aboutMember(described: Described, name: string, key: string): Fields {
  const { member } = described;
  const additionalProps = additionalPropsOf(described);
  return {
    name: textOf(member["displayName"]) ?? name,
    key,
    description: textOf(member["description"]) ?? "",
    ...(additionalProps === undefined ? {} : { additionalProps }),
  };
}

/** `additionalProps` of a member with dynamic props: those in it, each as a prop of its own. */
function additionalPropsOf(described: Described): ((this: Self) => Promise<Props>) | undefined {
  const dynamic = dynamicProps(described.member);
  if (dynamic.length === 0) return undefined;
  return async function additionalProps(this: Self): Promise<Props> {
    const props: Props = {};
    for (const [name, prop] of dynamic) {
      for (const [inner, definition] of entriesOf(await dynamicDefinitions(this, prop, described)))
        if (isFields(definition)) props[name + joint + inner] = propOf(inner, definition, described);
    }
    return props;
  };
}

/** Definitions of the props in a dynamic one. None while the values that it depends on are missing. */
async function dynamicDefinitions(self: Self, prop: Fields, described: Described): Promise<unknown> {
  const load = prop["props"];
  const refreshers = Array.isArray(prop["refreshers"]) ? prop["refreshers"].map(String) : [];
  const values = refreshedValues(self, described);
  const isMissing = refreshers.some((name) => name !== "auth" && isRequired(described.member, name) && values[name] === undefined);
  if (!isFunction(load) || isMissing) return {};
  return Reflect.apply(load, prop, [values, propertyContext(undefined)]);
}

const isRequired = (member: Fields, name: string): boolean => own(own(member["props"], name), "required") === true;

/** The value of a dynamic prop: what is given for it, and the values of the props in it. */
export function dynamicValue(self: Self, name: string, member: Fields): Fields {
  const others = new Set(entriesOf(member["props"]).map(([known]) => known));
  const prefix = name + joint;
  const inner = Object.entries(self).filter(([key]) => key.startsWith(prefix) && !others.has(key));
  const given = self[name];
  return { ...(isFields(given) ? given : {}), ...Object.fromEntries(inner.map(([key, value]) => [key.slice(prefix.length), value])) };
}
