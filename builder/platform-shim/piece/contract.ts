/** A piece of Activepieces as its package exports it: untrusted, so each field is checked where it is read. */
export type Fields = Record<string, unknown>;

/** `this` of a component. */
export type Self = Fields & { $emit?: (event: unknown, options: Fields) => void };

export interface Piece {
  readonly displayName: string;
  readonly description: string;
  /** Its ways to authenticate; none: it needs no account. */
  readonly auth: readonly Fields[];
  /** Those among the props of its actions and triggers. */
  readonly authOfMembers: readonly Fields[];
  readonly actions: ReadonlyMap<string, Fields>;
  readonly triggers: ReadonlyMap<string, Fields>;
  /** Of webhooks that all users of an app share. */
  readonly events: Fields | undefined;
  /** Whether contexts have the form of its newer contract, in which each account has a type. */
  readonly isTyped: boolean;
}

export const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
export const isFunction = (value: unknown): value is (...args: unknown[]) => unknown => typeof value === "function";
export const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

/** Own fields: a package may have changed the prototype of all objects. */
export const entriesOf = (value: unknown): [string, unknown][] => (isFields(value) ? Object.entries(value) : []);
export const own = (value: unknown, name: string): unknown => (isFields(value) && Object.hasOwn(value, name) ? value[name] : undefined);

/** Forms and accounts keep objects and lists as the text of their JSON. */
export function structured(given: unknown): unknown {
  if (typeof given !== "string" || !/^\s*[[{]/.test(given)) return given;
  try {
    return JSON.parse(given);
  } catch {
    return given;
  }
}

/** A member of a piece: a method of a class, a getter or a field. */
export const member = (value: unknown, name: string): unknown => (isFields(value) ? value[name] : undefined);

const memberLists = ["actions", "triggers"] as const;

/**
 * The piece among the exports of a package, by what it can do and not by its name: it lists its actions and triggers, by functions of that name
 * or, in its first contract, as metadata.
 */
export function findPiece(exported: unknown): Piece | undefined {
  const candidates = [exported, ...Object.values(isFields(exported) ? exported : {}), ...Object.values(member(exported, "default") ?? {})];
  const found = candidates.find((each): each is Fields => isFields(each) && memberLists.every((list) => listOf(each, list) !== undefined));
  if (found === undefined) return undefined;
  const listed = (list: (typeof memberLists)[number]): ReadonlyMap<string, Fields> => {
    const members = entriesOf(listOf(found, list));
    return new Map(members.filter((entry): entry is [string, Fields] => isFields(entry[1]) && isFunction(entry[1]["run"])));
  };
  const { auth, events } = found;
  const [actions, triggers] = [listed("actions"), listed("triggers")];
  return {
    displayName: textOf(found["displayName"]) ?? "Piece",
    description: textOf(found["description"]) ?? "",
    auth: (Array.isArray(auth) ? auth : [auth]).filter(isFields).filter(({ type }) => type !== "NONE"),
    authOfMembers: [...actions.values(), ...triggers.values()].flatMap(authProps).map(([, prop]) => prop),
    actions,
    triggers,
    events: isFields(events) ? events : undefined,
    isTyped:
      isFunction(found["getContextInfo"]) && textOf(member(Reflect.apply(found["getContextInfo"], found, []), "version")) !== undefined,
  };
}

function listOf(piece: Fields, list: (typeof memberLists)[number]): unknown {
  if (isFunction(piece[list])) return Reflect.apply(piece[list], piece, []);
  const { metadata, getAction, getTrigger } = piece;
  if (!isFunction(metadata) || !isFunction(getAction) || !isFunction(getTrigger)) return undefined;
  return member(Reflect.apply(metadata, piece, []), list);
}

const authTypes: ReadonlySet<unknown> = new Set(["OAUTH2", "BASIC_AUTH", "CUSTOM_AUTH"]);

/** In the first contract, each action has the authentication among its props. */
export const isAuthProp = (prop: unknown): prop is Fields => authTypes.has(own(prop, "type"));
const authProps = (of: Fields): [string, Fields][] =>
  entriesOf(of["props"]).filter((entry): entry is [string, Fields] => isAuthProp(entry[1]));

/** `google_sheets` of `@activepieces/piece-google-sheets`. */
export function appSlugOf(packageName: string): string {
  const name = packageName.split("/").at(-1) ?? packageName;
  return name
    .replace(/^piece-/, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
}
