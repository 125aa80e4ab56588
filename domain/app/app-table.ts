import { z } from "zod";
import { appGrants, appSlug, authKinds, clientAuthentications, requestFormats, type App } from "./app.ts";

/** An address without credentials and fragment; http is for doubles and private services, so only owners' apps may have it. */
const address = z.url({ protocol: /^https$/, normalize: false }).refine((text) => {
  const { username, password, hash } = new URL(text);
  return username === "" && password === "" && hash === "";
}, "it must have no credentials and no fragment");
const shortText = z.string().min(1).max(200);
const unique = z.array(shortText).refine((items) => new Set(items).size === items.length, "it must not repeat an item");
const path = z.string().regex(/^[\w-]+(\.[\w-]+)*$/);
const parameters = z.record(z.string().regex(/^[\w-]+$/), shortText);

const oauth = z.strictObject({
  grant: z.enum(appGrants).exactOptional(),
  authorizationUrl: address.exactOptional(),
  tokenUrl: address,
  refreshUrl: address.exactOptional(),
  revocationUrl: address.exactOptional(),
  issuer: address.exactOptional(),
  pkce: z.boolean().exactOptional(),
  scopes: unique.exactOptional(),
  scopeParameter: z.string().regex(/^\w+$/).exactOptional(),
  scopeSeparator: z.enum([" ", ",", ";"]).exactOptional(),
  authorizationParameters: parameters.exactOptional(),
  clientAuthentication: z.enum(clientAuthentications).exactOptional(),
  requestFormat: z.enum(requestFormats).exactOptional(),
  tokenParameters: parameters.exactOptional(),
  tokenPath: path.exactOptional(),
  voidGrantErrors: unique.exactOptional(),
  tokenFields: z.array(path).exactOptional(),
});

const field = z.strictObject({
  name: z.string().regex(/^\w{1,100}$/),
  label: shortText.exactOptional(),
  description: shortText.exactOptional(),
  optional: z.boolean().exactOptional(),
  secret: z.boolean().exactOptional(),
});

const placement = z.strictObject({ in: z.enum(["header", "query"]), name: shortText, prefix: shortText.exactOptional() });

const test = z.strictObject({
  url: address,
  method: z.enum(["GET", "POST"]).exactOptional(),
  headers: parameters.exactOptional(),
  name: path.exactOptional(),
  picture: path.exactOptional(),
});

const app = z
  .strictObject({
    slug: z.string().regex(appSlug.pattern, appSlug.message),
    name: shortText,
    description: shortText.exactOptional(),
    auth: z.enum(authKinds),
    categories: unique,
    documentationUrl: address.exactOptional(),
    oauth: oauth.exactOptional(),
    fields: z.array(field).min(1).exactOptional(),
    placement: placement.exactOptional(),
    test: test.exactOptional(),
  })
  .refine(({ auth, fields }) => (auth === "keys") === (fields !== undefined), "fields are for the kind keys, which needs them")
  .refine(({ auth, oauth: given }) => (auth === "oauth2") === (given !== undefined), "oauth is for OAuth")
  .refine(
    ({ oauth: given }) => given === undefined || (given.grant === "client_credentials") === (given.authorizationUrl === undefined),
    "the grant authorization_code has an authorizationUrl",
  );

/** A table of apps: sorted by slug, each once. */
const table = z
  .array(app)
  .refine(
    (apps) => apps.every(({ slug }, index) => index === 0 || (apps[index - 1]?.slug ?? "") < slug),
    "it must be sorted by slug, each once",
  );

/** @throws ZodError with the path of each mistake */
export const parseAppTable = (data: unknown): readonly App[] => table.parse(data);

/** The union of tables; of apps with the same slug, the one of the earlier table. */
export function joinTables(...tables: readonly (readonly App[])[]): ReadonlyMap<string, App> {
  return new Map(tables.toReversed().flatMap((apps) => apps.map((each) => [each.slug, each] as const)));
}
