import { isPackageName, isRange } from "../../domain/component/npm-origin.ts";
import type { PackageListing } from "../../domain/component/package-listing.ts";
import { InvalidInput, NotFound } from "../../domain/errors.ts";
import { operation, type ApiContext } from "../context.ts";
import type { Call, Input } from "../http/request/call.ts";
import { optionalParameter, ownerParameters, text } from "../http/request/parameters.ts";
import { ok } from "../http/response/replies.ts";
import { all, one } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import { packageComponentResponse, packageResponse, packageWarnings } from "./response.ts";
import { packageComponentSchema, packageSchema } from "./schemas.ts";

const query = ownerParameters.extend({
  version: optionalParameter(text).describe("A version, semver range or tag; by default, the latest."),
});

/** Packages of the npm registry. Their names contain a slash, which is `%2F` in the path. */
export const packageOperations = [
  operation({
    route: "GET /packages/:name",
    id: "getPackage",
    summary: "Get a package of the npm registry",
    description:
      "Its version, what is in it, and how it authenticates. A `/` in its name is `%2F`. Its code runs in the sandbox alone, and none of its scripts.",
    query,
    responses: one(packageSchema),
    handle: async (call, context) => {
      const listing = await listingOf(call, call.query().version, context);
      return ok(packageResponse(listing), packageWarnings(listing));
    },
  }),
  operation({
    route: "GET /packages/:name/components",
    id: "listPackageComponents",
    summary: "List the components of a package of the npm registry",
    description: "Files in the component format, or the actions and triggers of a piece of Activepieces. A `/` in its name is `%2F`.",
    query,
    responses: all(packageComponentSchema),
    handle: async (call, context) => {
      const listing = await listingOf(call, call.query().version, context);
      return ok(
        listing.components.map((component) => packageComponentResponse(listing, component)),
        packageWarnings(listing),
      );
    },
  }),
];

/** Codes of the builder for what the registry does not have. */
const absent: ReadonlySet<string> = new Set(["package_not_found", "version_not_found"]);

async function listingOf(call: Call & Input, version: string | undefined, { access, ports }: ApiContext): Promise<PackageListing> {
  const name = pathOf(call, "name");
  if (!isPackageName(name)) throw refused(name, "a package of the npm registry");
  if (version !== undefined && !isRange(version)) throw refused(version, "a version, semver range or tag of the npm registry");
  const owner = await access.owner(call);
  try {
    return await ports.listPackage({ name, range: version ?? null }, owner);
  } catch (error) {
    throw error instanceof InvalidInput && absent.has(error.code) ? new NotFound(error.message, { code: error.code, cause: error }) : error;
  }
}

const refused = (value: string, what: string): InvalidInput =>
  new InvalidInput(`"${value.slice(0, 120)}" is not the name of ${what}`, { code: "invalid_npm_address" });
