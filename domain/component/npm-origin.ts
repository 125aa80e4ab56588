import { InvalidInput } from "../errors.ts";

/** Where a component of an npm package is: `npm:<package>[@<range>][/<path>]` or `npm:<package>[@<range>]#action/<name>`. */
export interface NpmOrigin {
  readonly name: string;
  /** Version, semver range or tag; null: the latest. */
  readonly range: string | null;
  /** Path of a file in the package, without a leading slash; "" for the package itself. */
  readonly path: string;
  /** An action or trigger of a piece. */
  readonly member?: PieceMember | undefined;
}

export const memberKinds = ["action", "trigger"] as const;

export interface PieceMember {
  readonly kind: (typeof memberKinds)[number];
  readonly name: string;
}

/** Characters of an address. */
const maxCharacters = 2_048;

const packageName = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/i;
/** Versions, ranges and tags hold no `:` or `/`: with one of them npm would read an address, a repository or a folder. */
const rangeShape = /^[\w^~<>=|*+][\w.^~<>=|*+ -]*$/;
const shape = /^npm:((?:@[^/@#]+\/)?[^/@#]+)(?:@([^/#]+))?(\/[^#]*)?(?:#(.*))?$/;
const memberShape = /^(action|trigger)\/([\w.-]{1,200})$/;

/** Of the address of a component, for the schemas of custom resources: {@link parseNpmOrigin} checks the rest. */
export const npmAddress = String.raw`^npm:(@[a-zA-Z0-9~-][a-zA-Z0-9._~-]*/)?[a-zA-Z0-9~-][a-zA-Z0-9._~-]*(@[\w^~<>=|*+][\w.^~<>=|*+ -]*)?(/[^#\s]*)?(#(action|trigger)/[\w.-]+)?$`;

export const isNpmAddress = (text: string): boolean => text.startsWith("npm:");

/** Is it a name that npm could install under? Names of properties of every object are refused: npm fails for them. */
export const isPackageName = (name: string): boolean =>
  name.length <= 214 && packageName.test(name) && name !== "node_modules" && !(name in Object.prototype);

export const isRange = (range: string): boolean => rangeShape.test(range) && !/\.(tgz|tar|tar\.gz)$/i.test(range);

/** @throws InvalidInput `invalid_npm_address` */
export function parseNpmOrigin(text: string): NpmOrigin {
  if (text.length > maxCharacters) throw refused(text, `it has ${text.length} characters, ${maxCharacters} are allowed`);
  const [, name = "", range, path = "", fragment] = shape.exec(text) ?? [];
  if (!isPackageName(name)) throw refused(text, "the name of a package of the registry is expected after npm:");
  if (range !== undefined && (!isRange(range) || range === "~" || range === "^"))
    throw refused(text, `"${range.slice(0, 80)}" is no version, semver range or tag of the registry`);
  const file = path.slice(1);
  if (path !== "" && !isFilePath(file)) throw refused(text, "the path must name a file of the package, without . and ..");
  if (fragment === undefined) return { name, range: range ?? null, path: file };
  const [, kind, member] = memberShape.exec(fragment) ?? [];
  if (member === undefined || path !== "") throw refused(text, "after # stands action/<name> or trigger/<name>, and no path before it");
  return { name, range: range ?? null, path: "", member: { kind: kind === "action" ? "action" : "trigger", name: member } };
}

/** The address, with a version or range, or without. */
export function formatNpmOrigin({ name, range, path, member }: NpmOrigin): string {
  const version = range === null ? "" : `@${range}`;
  return `npm:${name}${version}${path === "" ? "" : `/${path}`}${member === undefined ? "" : `#${member.kind}/${member.name}`}`;
}

/** The package of a component from npm, at the version that was found. */
export interface PinnedPackage {
  readonly name: string;
  readonly version: string;
  /** Hash of its tarball. */
  readonly integrity: string;
}

const pin = /^\/\/ npm:((?:@[^/@\s]+\/)?[^/@\s]+)@(\S+) (sha\d+-\S+)\n/;

/** The first line of the module of a component from npm, which pins the package. */
export const pinLine = ({ name, version, integrity }: PinnedPackage): string => `// npm:${name}@${version} ${integrity}\n`;

/** The package that a module pins; undefined if it does not come from npm. */
export function pinnedPackage(code: string): PinnedPackage | undefined {
  const [, name, version, integrity] = pin.exec(code) ?? [];
  return name === undefined || version === undefined || integrity === undefined ? undefined : { name, version, integrity };
}

// oxlint-disable-next-line no-control-regex -- control characters are refused.
const isFilePath = (path: string): boolean => !/[\\"\u0000-\u001f]/.test(path) && path.split("/").every((part) => !/^\.{0,2}$/.test(part));

function refused(text: string, reason: string): InvalidInput {
  return new InvalidInput(
    `"${text.slice(0, 120)}" is no address of a component in npm: ${reason}; right is npm:<package>@<version>/<file> or npm:<package>@<version>#action/<name>`,
    { code: "invalid_npm_address" },
  );
}
