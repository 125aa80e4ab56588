import { formatNpmOrigin } from "../../domain/component/npm-origin.ts";
import type { ListedComponent, PackageListing } from "../../domain/component/package-listing.ts";
import type { Warning } from "../../domain/component/warning.ts";
import type { Answered } from "../http/response/answered.ts";
import type { packageComponentSchema, packageSchema } from "./schemas.ts";

export function packageResponse({
  name,
  version,
  integrity,
  kind,
  piece,
  components,
  ...more
}: PackageListing): Answered<typeof packageSchema> {
  const count = (type: string): number => components.filter((component) => component.type === type).length;
  return {
    name,
    version,
    integrity,
    deprecated: more.deprecated ?? null,
    kind,
    display_name: piece?.displayName ?? null,
    description: piece?.description ?? null,
    app: piece?.app ?? null,
    auth: (piece?.auth ?? []).map(({ kind: of, authorizationUrl = null, tokenUrl = null, scopes = [], fields = [] }) => ({
      kind: of,
      authorization_url: authorizationUrl,
      token_url: tokenUrl,
      scopes: [...scopes],
      fields: [...fields],
    })),
    actions: count("action"),
    sources: count("source"),
    problem: more.problem ?? null,
  };
}

export const packageComponentResponse = (
  { name, version }: Pick<PackageListing, "name" | "version">,
  component: ListedComponent,
): Answered<typeof packageComponentSchema> => ({
  component_url: addressOf(name, version, component.address),
  type: component.type,
  name: component.name,
  key: component.key ?? null,
  version: component.version ?? version,
  description: component.description ?? null,
  trigger: component.strategy ?? null,
  problem: component.problem ?? null,
});

function addressOf(name: string, version: string, address: string): string {
  const base = formatNpmOrigin({ name, range: version, path: "" });
  return address === "" || address.startsWith("#") ? base + address : `${base}/${address}`;
}

/** Warnings about a whole package. */
export function packageWarnings({ name, version, deprecated, problem }: PackageListing): readonly Warning[] {
  return [
    ...(deprecated === undefined
      ? []
      : [{ code: "package_deprecated", message: `package ${name}@${version} is deprecated: ${deprecated}`, path: "name" }]),
    ...(problem === undefined
      ? []
      : [{ code: "package_fails", message: `package ${name}@${version} cannot be loaded: ${problem}`, path: "name" }]),
  ];
}
