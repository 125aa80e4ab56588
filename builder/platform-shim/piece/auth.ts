import { entriesOf, isFields, own, structured, textOf, type Fields, type Piece } from "./contract.ts";

type Kind = "oauth2" | "secret_text" | "basic" | "custom" | "oidc";

const kinds: ReadonlyMap<unknown, Kind> = new Map([
  ["OAUTH2", "oauth2"],
  ["SECRET_TEXT", "secret_text"],
  ["BASIC_AUTH", "basic"],
  ["CUSTOM_AUTH", "custom"],
  ["OIDC", "oidc"],
]);

/** Names of the field with the key of an app, in the order in which they are looked for. */
const keyFields = ["api_key", "secret_text", "api_token", "token", "access_token", "oauth_access_token"];
const maxFields = 50;

/** A way to authenticate, as facts of a listing. */
export function describeAuth(auth: Fields): Fields | undefined {
  const kind = kinds.get(auth["type"]);
  if (kind === undefined) return undefined;
  return {
    kind,
    authorizationUrl: textOf(auth["authUrl"]),
    tokenUrl: textOf(auth["tokenUrl"]),
    scopes: Array.isArray(auth["scope"]) ? auth["scope"].filter((scope) => typeof scope === "string") : undefined,
    fields: fieldsOf(kind, auth),
  };
}

function fieldsOf(kind: Kind, auth: Fields): Fields[] {
  if (kind === "secret_text") return [{ name: "api_key", label: textOf(auth["displayName"]) ?? "API key", secret: true, optional: false }];
  if (kind === "basic")
    return ["username", "password"].map((name) => ({
      name,
      label: textOf(own(auth[name], "displayName")) ?? name,
      secret: name === "password",
      optional: false,
    }));
  return entriesOf(auth["props"])
    .filter(([, prop]) => isFields(prop) && prop["type"] !== "MARKDOWN")
    .slice(0, maxFields)
    .map(([name, prop]) => ({
      name,
      label: textOf(own(prop, "displayName")) ?? name,
      secret: own(prop, "type") === "SECRET_TEXT",
      optional: own(prop, "required") !== true || own(prop, "defaultValue") !== undefined,
    }));
}

type Ways = Pick<Piece, "auth" | "isTyped">;

/** The value that a piece gets as `auth`, from the credentials of an account. */
export function authValue({ auth, isTyped }: Ways, credentials: unknown): unknown {
  const fields = isFields(credentials) ? credentials : {};
  if (auth.length === 0 || Object.keys(fields).length === 0) return undefined;
  const chosen = auth.find((each) => fits(each, fields)) ?? auth[0];
  const type = chosen?.["type"];
  switch (kinds.get(type)) {
    case "oauth2": {
      const token = fields["oauth_access_token"] ?? fields["access_token"];
      return {
        ...fields,
        type: "OAUTH2",
        token_type: "Bearer",
        access_token: token,
        props: typedProps(chosen, fields),
        data: tokenResponse(fields),
      };
    }
    case "secret_text": {
      const key = keyOf(fields);
      return isTyped ? { type, secret_text: key } : key;
    }
    case "basic":
      return { type, username: fields["username"], password: fields["password"] ?? fields["api_key"] };
    case "custom":
    case "oidc":
    case undefined: {
      const props = typedProps(chosen, fields);
      return isTyped ? { type, props } : props;
    }
  }
}

/**
 * The response of a token endpoint, of which pieces read what is not standard: the merchant of Square, or `team.id` of Slack, which an account
 * keeps as `team_id`. Each name is read both ways, at each of its underscores.
 */
function tokenResponse(fields: Fields): Fields {
  const nested: Record<string, Fields> = {};
  for (const [name, value] of Object.entries(fields)) {
    const words = name.split("_");
    for (let at = 1; at < words.length; at++) {
      const outer = words.slice(0, at).join("_");
      nested[outer] = { ...nested[outer], [words.slice(at).join("_")]: structured(value) };
    }
  }
  return { ...nested, ...Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, structured(value)])) };
}

/** The same from an app prop of `this`. */
export const authFrom = (ways: Ways, app: unknown): unknown => authValue(ways, (app as { readonly $auth?: unknown } | undefined)?.$auth);

function fits({ type, props }: Fields, fields: Fields): boolean {
  if (type === "OAUTH2") return "oauth_access_token" in fields;
  if (type === "BASIC_AUTH") return "username" in fields;
  if (type === "SECRET_TEXT") return Object.keys(fields).length === 1 || "api_key" in fields;
  return entriesOf(props).some(([name]) => name in fields);
}

const keyOf = (fields: Fields): unknown => {
  const name = keyFields.find((each) => textOf(fields[each]) !== undefined);
  return name === undefined ? Object.values(fields).find((value) => typeof value === "string") : fields[name];
};

/** Accounts keep texts; numbers and checkboxes have other types. What an account does not have is as the piece has it by default. */
function typedProps(auth: Fields | undefined, fields: Fields): Fields {
  const definitions = new Map(entriesOf(auth?.["props"]));
  const defaults = [...definitions].map(([name, definition]) => [name, own(definition, "defaultValue")] as const);
  const given = Object.entries(fields).map(([name, value]) => {
    const type = own(definitions.get(name), "type");
    if (type === "NUMBER" && typeof value === "string") return [name, Number(value)] as const;
    return [name, type === "CHECKBOX" && typeof value === "string" ? value === "true" : value] as const;
  });
  return Object.fromEntries([...defaults.filter(([, value]) => value !== undefined && value !== null), ...given]);
}
