import { join } from "node:path";
import { pinLine, pinnedPackage } from "../../domain/component/npm-origin.ts";
import type { WantedPackage } from "../../domain/component/package-listing.ts";
import { InvalidInput } from "../../domain/errors.ts";
import type { BuildParts } from "../build.ts";
import { explainInstall } from "../npm/errors.ts";
import { lockedIn } from "../npm/lockfile.ts";

/** A package of the registry that is installed, without its scripts. */
export interface ResolvedPackage {
  readonly name: string;
  readonly version: string;
  /** Of its tarball, such as `sha512-…`. */
  readonly integrity: string;
  /** What its publisher says of a version that should not be used any more. */
  readonly deprecated?: string | undefined;
  /** Holds its package.json. */
  readonly directory: string;
}

const maxDeprecation = 500;
/** A range is resolved again after this time, so that a new version is found soon. What a version is does not change. */
const rangeFreshMs = 60_000;
const exact = /^\d+\.\d+\.\d+(-[\w.-]+)?(\+[\w.-]+)?$/;

/**
 * Installs a package at the version that npm finds for the range.
 * @throws InvalidInput `package_not_found`, `version_not_found`, …; LimitExceeded `packages_too_large`; Unavailable
 */
export async function resolvePackage({ name, range }: WantedPackage, owner: string, parts: BuildParts): Promise<ResolvedPackage> {
  try {
    const wanted = { [name]: range ?? "latest" };
    const set = await parts.packages.provide(wanted, null, owner, range !== null && exact.test(range) ? undefined : rangeFreshMs);
    const { version = "", integrity, deprecated } = lockedIn(set.lockfile, name);
    if (integrity === undefined)
      throw new InvalidInput(`package ${name} has no integrity hash in the registry`, { code: "package_refused" });
    // Otherwise no build could compare the package with its pin.
    if (pinnedPackage(pinLine({ name, version, integrity }))?.integrity !== integrity)
      throw new InvalidInput(`package ${name} has an integrity in the registry that is not one hash: ${integrity.slice(0, 200)}`, {
        code: "package_refused",
      });
    return {
      name,
      version,
      integrity,
      ...(deprecated === undefined || deprecated === "" ? {} : { deprecated: deprecated.slice(0, maxDeprecation) }),
      directory: join(set.directory, "node_modules", name),
    };
  } catch (error) {
    throw explainInstall(error, { entry: "", texts: new Map() }, []);
  }
}
