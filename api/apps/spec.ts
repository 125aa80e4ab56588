import type { AppSpec } from "../../crds/app.ts";
import type { AppField } from "../../domain/app/app.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { kindOfType, type AppChanges } from "./request.ts";

/** What an app has before its first fields. */
export const emptyApp = (slug: string): AppSpec => ({ slug, name: slug, auth: "none", categories: [] });

/** Absent fields stay; null removes one. Fields of another kind of credentials go. @throws InvalidInput */
export function changedApp(before: AppSpec, changes: AppChanges): AppSpec {
  const auth = changes.auth_type === undefined ? before.auth : kindOfType(changes.auth_type);
  const hasOauth = auth === "oauth2";
  const description = merged(before.description, changes.description);
  const fields = auth === "keys" ? merged(before.fields, changes.custom_fields?.map(fieldOf)) : undefined;
  const oauth = hasOauth ? changedOauth(before.oauth, changes.oauth) : undefined;
  const test = hasOauth ? changedTest(before.test, changes.oauth) : before.test;
  if (oauth !== undefined && oauth.authorizationUrl === undefined && oauth.grant !== "client_credentials")
    throw new InvalidInput("oauth.authorization_url is missing: an app of auth_type oauth with the grant authorization_code needs it");
  if (auth === "keys" && fields === undefined) throw new InvalidInput("custom_fields are missing: an app of auth_type keys needs them");
  return withoutUndefined({
    slug: before.slug,
    name: changes.name ?? before.name,
    description,
    auth,
    categories: changes.categories === null ? [] : (changes.categories ?? before.categories),
    documentationUrl: merged(before.documentationUrl, changes.documentation_url),
    oauth,
    fields,
    placement: before.placement,
    test,
  });
}

type Oauth = NonNullable<AppSpec["oauth"]>;
type GivenOauth = AppChanges["oauth"];

/** @throws InvalidInput */
function changedOauth(before: Oauth | undefined, given: GivenOauth): Oauth {
  const tokenUrl = given?.token_url ?? before?.tokenUrl;
  if (tokenUrl === undefined) throw new InvalidInput("oauth.token_url is missing: an app with OAuth needs it");
  return withoutUndefined({
    grant: merged(before?.grant, given?.grant),
    authorizationUrl: merged(before?.authorizationUrl, given?.authorization_url),
    tokenUrl,
    refreshUrl: merged(before?.refreshUrl, given?.refresh_url),
    revocationUrl: merged(before?.revocationUrl, given?.revocation_url),
    issuer: merged(before?.issuer, given?.issuer),
    pkce: merged(before?.pkce, given?.pkce),
    scopes: merged(before?.scopes, given?.scopes),
    scopeParameter: merged(before?.scopeParameter, given?.scope_parameter),
    scopeSeparator: merged(before?.scopeSeparator, given?.scope_separator),
    authorizationParameters: merged(before?.authorizationParameters, given?.authorization_params),
    clientAuthentication: merged(before?.clientAuthentication, given?.client_authentication),
    requestFormat: merged(before?.requestFormat, given?.request_format),
    tokenParameters: merged(before?.tokenParameters, given?.token_params),
    tokenPath: merged(before?.tokenPath, given?.token_path),
    voidGrantErrors: merged(before?.voidGrantErrors, given?.void_grant_errors),
    tokenFields: merged(before?.tokenFields, given?.token_fields),
  });
}

function changedTest(before: AppSpec["test"], given: GivenOauth): AppSpec["test"] {
  const url = merged(before?.url, given?.test_url);
  if (url === undefined) return undefined;
  const name = merged(before?.name, given?.test_name);
  return withoutUndefined({ ...before, url, name, picture: merged(before?.picture, given?.test_picture) });
}

const fieldOf = ({ name, label, description, optional, secret }: NonNullable<AppChanges["custom_fields"]>[number]): AppField =>
  withoutUndefined({
    name,
    label: label ?? undefined,
    description: description ?? undefined,
    optional: optional ?? undefined,
    secret: secret ?? undefined,
  });

const merged = <Value>(before: Value | undefined, given: Value | null | undefined): Value | undefined =>
  given === null ? undefined : (given ?? before);

function withoutUndefined<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Value; // The same fields, without absent ones.
}
