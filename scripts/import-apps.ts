import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { appSlug, type App } from "../domain/app/app.ts";
import { parseAppTable } from "../domain/app/app-table.ts";
import { appsDirectory } from "../platform/process/apps.ts";

/**
 * Writes `registry/apps/imported.json` from the table of OAuth services of the npm package `grant` (MIT): addresses and scope separators
 * only. Run by hand: `node scripts/import-apps.ts <package>/config/oauth.json`. Apps of our own table are left out, and so are services
 * of OAuth 1, addresses with parameters, and addresses without TLS.
 */
const services = z.record(
  z.string(),
  z.looseObject({
    authorize_url: z.string().optional(),
    access_url: z.string().optional(),
    oauth: z.int().optional(),
    scope_delimiter: z.enum([" ", ",", ";"]).optional().catch(undefined),
  }),
);

/** Closed since, or they need what this flow does not do: signed assertions, PKCE, Basic authentication, other parameter names. */
const unusable = new Set(["fitbit", "instagram", "intuit", "logingov", "pinterest", "tiktok", "twitter2", "venmo"]);

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error("name the file: node scripts/import-apps.ts <package>/config/oauth.json");
const given = services.parse(JSON.parse(await readFile(file, "utf8")));
const own = parseAppTable(JSON.parse(await readFile(join(appsDirectory, "apps.json"), "utf8")));
const imported = Object.entries(given)
  .flatMap(([slug, service]) => appOf(slug, service) ?? [])
  .filter((app) => isNew(app, own))
  .toSorted((a, b) => (a.slug < b.slug ? -1 : 1));
parseAppTable(imported);
await writeFile(join(appsDirectory, "imported.json"), `${JSON.stringify(imported, undefined, 2)}\n`);
console.log(`${imported.length} of ${Object.keys(given).length} services imported`);

function appOf(slug: string, service: z.infer<typeof services>[string]): App | undefined {
  const { authorize_url: authorizationUrl, access_url: tokenUrl, oauth, scope_delimiter: scopeSeparator } = service;
  if (oauth !== 2 || authorizationUrl === undefined || tokenUrl === undefined) return undefined;
  if (![authorizationUrl, tokenUrl].every((address) => address.startsWith("https://") && !/[[\]{}#]/.test(address))) return undefined;
  if (!appSlug.pattern.test(slug) || unusable.has(slug)) return undefined;
  return {
    slug,
    name: slug.charAt(0).toUpperCase() + slug.slice(1),
    auth: "oauth2",
    categories: [],
    // Few of these services document PKCE, and most know credentials in the body only.
    oauth: {
      authorizationUrl,
      tokenUrl,
      pkce: false,
      ...(scopeSeparator === undefined || scopeSeparator === " " ? {} : { scopeSeparator }),
      clientAuthentication: "body",
    },
  };
}

function isNew({ slug, oauth }: App, table: readonly App[]): boolean {
  return !table.some((app) => app.slug === slug || (oauth !== undefined && app.oauth?.tokenUrl === oauth.tokenUrl));
}
