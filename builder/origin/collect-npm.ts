import type { ComponentCode } from "../../domain/component/component-code.ts";
import { candidatesOf } from "../../domain/component/module-path.ts";
import { formatNpmOrigin, parseNpmOrigin, type NpmOrigin, type PieceMember } from "../../domain/component/npm-origin.ts";
import type { PackageListing } from "../../domain/component/package-listing.ts";
import { InvalidInput } from "../../domain/errors.ts";
import type { BuildParts } from "../build.ts";
import type { Deadline } from "../deadline.ts";
import { filesOf, listComponentFiles } from "./component-files.ts";
import { fileCode, memberCode } from "./generated-code.ts";
import { listResolved } from "./list-package.ts";
import { didYouMean } from "./near-names.ts";
import { resolvePackage, type ResolvedPackage } from "./resolve-package.ts";

/**
 * The code of a component of npm: a module that imports it at the exact version, and pins it by its integrity hash. What it imports, and its
 * dependencies, come with the package.
 * @throws InvalidInput `invalid_npm_address`, `component_not_found`, `not_a_component`, and what installing throws
 */
export async function collectNpm(address: string, owner: string, parts: BuildParts, deadline: Deadline): Promise<ComponentCode> {
  const origin = parseNpmOrigin(address);
  const found = await deadline.during("install", resolvePackage(origin, owner, parts));
  if (origin.path !== "") return { code: fileCode(found, await deadline.during("scan", pathIn(found, origin.path, deadline.signal))) };
  const listing = await listResolved(found, owner, parts, deadline);
  if (origin.member !== undefined) return { code: memberCode(found, memberIn(listing, origin.member)) };
  if (listing.kind === "component") return { code: fileCode(found, "") };
  throw noComponent(origin, listing);
}

async function pathIn(found: ResolvedPackage, path: string, signal: AbortSignal): Promise<string> {
  const files = await filesOf(found.directory);
  const known = new Set(files);
  const { files: candidates, folder } = candidatesOf(path);
  const inFolder = `${path.replace(/\/$/, "")}/${path.split("/").at(-1) ?? ""}`;
  const match = [...candidates, ...folder, ...candidatesOf(inFolder).files].find((candidate) => known.has(candidate));
  if (match !== undefined) return match;
  const components = (await listComponentFiles(found.directory, files, signal)).map(({ address }) => address);
  const names = components.length > 0 ? components : files.filter((file) => /\.[cm]?[jt]s$/.test(file));
  throw new InvalidInput(`package ${found.name}@${found.version} has no file "${path}"${didYouMean(path, names)}`, {
    code: "component_not_found",
  });
}

function memberIn({ name, version, kind, components, problem }: PackageListing, member: PieceMember): PieceMember {
  const prefix = `#${member.kind}/`;
  if (components.some(({ address }) => address === prefix + member.name)) return member;
  const which = `package ${name}@${version}`;
  if (problem !== undefined) throw new InvalidInput(`${which} cannot be loaded: ${problem}`, { code: "not_a_component" });
  if (kind !== "piece")
    throw new InvalidInput(
      `${which} is no piece of Activepieces, so it has no ${member.kind} "${member.name}": name a file of it, as npm:${name}/<file>`,
      { code: "not_a_component" },
    );
  const names = components.filter(({ address }) => address.startsWith(prefix)).map(({ address }) => address.slice(prefix.length));
  throw new InvalidInput(`${which} has no ${member.kind} "${member.name}"${didYouMean(member.name, names)}`, {
    code: "component_not_found",
  });
}

function noComponent(origin: NpmOrigin, { name, version, components, problem }: PackageListing): InvalidInput {
  const which = `package ${name}@${version}`;
  if (problem !== undefined) return new InvalidInput(`${which} cannot be loaded: ${problem}`, { code: "not_a_component" });
  const [first] = components;
  if (first === undefined)
    return new InvalidInput(`${which} is not a component: it has no files of components, and its main export is neither one nor a piece`, {
      code: "not_a_component",
    });
  const range = formatNpmOrigin(origin);
  const example = range + (first.address.startsWith("#") ? first.address : `/${first.address}`);
  return new InvalidInput(`${which} has ${components.length} components: name one of them, such as ${example}`, {
    code: "not_a_component",
  });
}
