import type { ConnectableApp, OAuthClient, Operations } from "../../client/generated/operations.ts";
import { usageFailure } from "../failure.ts";
import type { Item } from "../kinds/kind.ts";
import { kindNamed } from "../kinds/kinds.ts";
import { present, recordOf } from "../values.ts";
import type { Manifest, Spec } from "./manifest.ts";
import type { ResourceKind } from "./resource-kind.ts";
import type { Session } from "./session.ts";

/** Fields of OAuth in a resource, and in REST. Those of its test request have a place of their own. */
const oauthFields = {
  grant: "grant",
  authorizationUrl: "authorization_url",
  tokenUrl: "token_url",
  refreshUrl: "refresh_url",
  revocationUrl: "revocation_url",
  issuer: "issuer",
  pkce: "pkce",
  scopes: "scopes",
  scopeParameter: "scope_parameter",
  scopeSeparator: "scope_separator",
  authorizationParameters: "authorization_params",
  clientAuthentication: "client_authentication",
  requestFormat: "request_format",
  tokenParameters: "token_params",
  tokenPath: "token_path",
  voidGrantErrors: "void_grant_errors",
  tokenFields: "token_fields",
} as const;
const testFields = { url: "test_url", name: "test_name", picture: "test_picture" } as const;

/** What REST answers for absent fields. */
const defaults: Readonly<Record<string, string>> = {
  grant: '"authorization_code"',
  pkce: "true",
  scopes: "[]",
  scopeParameter: '"scope"',
  scopeSeparator: '" "',
  authorizationParameters: "{}",
  clientAuthentication: '"basic"',
  requestFormat: '"form"',
  tokenParameters: "{}",
  voidGrantErrors: "[]",
  tokenFields: "[]",
  categories: "[]",
};

const withoutDefaults = (fields: Spec): Spec =>
  Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => value !== null && value !== undefined && JSON.stringify(value) !== defaults[name]),
  );

const renamed = (given: Spec, names: Readonly<Record<string, string>>): Spec =>
  Object.fromEntries(Object.entries(names).map(([to, from]) => [to, given[from]]));
const inverse = (names: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(names).map(([name, other]) => [other, name]));

function appSpec(item: Item): Spec {
  const {
    name_slug: slug,
    name,
    description,
    kind: auth,
    categories,
    documentation_url: documentationUrl,
    oauth,
    custom_fields_json: fields,
  } = item as unknown as ConnectableApp;
  const given = (oauth ?? {}) as Spec;
  const test = withoutDefaults(renamed(given, testFields));
  return withoutDefaults({
    slug,
    name,
    description,
    auth,
    categories,
    documentationUrl,
    ...(oauth === null ? {} : { oauth: withoutDefaults(renamed(given, oauthFields)) }),
    ...(auth === "keys" ? { fields: JSON.parse(fields) as unknown } : {}),
    ...("url" in test ? { test } : {}),
  });
}

/** @throws Failure for fields that REST does not have */
function appBody({ name, spec }: Manifest): Record<string, unknown> {
  const { slug, auth, fields, oauth, test = {}, name: display, description, categories, documentationUrl, placement } = spec;
  const { url, name: testName, picture, ...others } = recordOf(test, `test of App ${name}`);
  const unknown = [...(placement === undefined ? [] : ["placement"]), ...Object.keys(others).map((field) => `test.${field}`)];
  if (unknown.length > 0) throw usageFailure(`App ${name} has ${unknown.join(" and ")}`, "use kubectl for these fields");
  const tested = present({ test_url: url, test_name: testName, test_picture: picture });
  const given = oauth === undefined ? {} : renamed(recordOf(oauth, `oauth of App ${name}`), inverse(oauthFields));
  return present({
    name_slug: slug,
    name: display ?? name,
    description,
    auth_type: auth === "oauth2" ? "oauth" : auth,
    categories,
    documentation_url: documentationUrl,
    custom_fields: fields,
    oauth: oauth === undefined ? undefined : { ...present(given), ...tested },
  });
}

export const appResource: ResourceKind = {
  name: "App",
  listed: kindNamed("apps"),
  isExported: ({ origin }) => origin === "own",
  nameOf: ({ name_slug: slug }) => String(slug).replaceAll("_", "-"),
  specOf: async (_session, item) => appSpec(item),
  normalize: async (_session, { oauth, ...spec }) =>
    withoutDefaults({ ...spec, ...(oauth === undefined ? {} : { oauth: withoutDefaults(recordOf(oauth, "oauth")) }) }),
  create: async ({ client }, manifest) => client.call("createApp", { body: appBody(manifest) as Operations["createApp"]["body"] }), // The API checks it.
  update: ({ client }, _id, manifest) => {
    const { name_slug: slug, ...body } = appBody(manifest);
    return client.call("updateApp", { path: { slug: String(slug) }, body });
  },
  finds: async (_session, items, { spec }) => items.find((item) => item["origin"] === "own" && item["name_slug"] === spec["slug"]),
};

async function clientBody(session: Session, { name, spec }: Manifest): Promise<Record<string, unknown>> {
  const { app, clientId, clientSecret, scopes, name: display, origins } = spec;
  const secret = clientSecret === undefined ? undefined : session.secret(clientSecret, `OAuthClient ${name}: clientSecret`);
  if (Array.isArray(origins)) await requireOrigins(session, name, String(app), origins);
  return present({ app, name: display, client_id: clientId, client_secret: secret, scopes });
}

/** The API takes the secret for the addresses that the app has now: they must be those that the file allows. @throws Failure */
async function requireOrigins({ client }: Session, name: string, slug: string, origins: readonly unknown[]): Promise<void> {
  const { oauth } = (await client.call("getApp", { path: { slug } })).data;
  for (const url of [oauth?.token_url, oauth?.refresh_url, oauth?.revocation_url]) {
    const origin = typeof url === "string" ? new URL(url).origin : undefined;
    if (origin !== undefined && !origins.includes(origin))
      throw usageFailure(
        `app ${slug} has the address ${origin}, which origins of OAuthClient ${name} does not list`,
        "add it, or correct the app",
      );
  }
}

export const oauthClientResource: ResourceKind = {
  name: "OAuthClient",
  listed: kindNamed("oauth-clients"),
  nameOf: ({ app }) => String(app).replaceAll("_", "-"),
  specOf: async (_session, item) => {
    const { app, name, client_id: clientId, scopes } = item as unknown as OAuthClient;
    return present({ app, name: name ?? undefined, clientId, scopes: scopes ?? undefined });
  },
  normalize: async (_session, { origins: _, clientSecret, ...spec }) =>
    present({ ...spec, secrets: clientSecret === undefined ? undefined : { clientSecret } }),
  create: async (session, manifest) =>
    session.client.call("createOAuthClient", { body: (await clientBody(session, manifest)) as Operations["createOAuthClient"]["body"] }), // The API checks it.
  update: async (session, id, manifest) => {
    const { app: _app, ...body } = await clientBody(session, manifest);
    return session.client.call("updateOAuthClient", { path: { id }, body });
  },
  finds: async (_session, items, { spec }) => items.find((item) => item["app"] === spec["app"]),
};
