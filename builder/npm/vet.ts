import type { ArboristTree } from "@npmcli/arborist";
import { LimitExceeded } from "../../domain/errors.ts";
import { refuse } from "../errors.ts";
import type { BuildLimits } from "../limits.ts";

export const omitted = ["dev", "optional"] as const;

/**
 * Looks at a tree before anything of it is downloaded: every package comes from the registry, proves its bytes by an integrity
 * hash, and there are not too many. Packages inside another's tarball are covered by that tarball's hash.
 */
export function vetTree(tree: ArboristTree, limits: BuildLimits): void {
  const omit = new Set<string>(omitted);
  const packages = [...tree.inventory.values()].filter((node) => !node.isRoot && !node.shouldOmit(omit));
  for (const node of packages) {
    if (node.isLink) throw refusePackage(node.name, "is a link to a folder; only packages of the registry can be used");
    if (node.inBundle) continue;
    if (!node.isRegistryDependency) throw refusePackage(node.name, "does not come from the registry");
    if (!node.integrity) throw refusePackage(node.name, "has no integrity hash in the registry");
  }
  if (packages.length > limits.packages) {
    throw new LimitExceeded(
      `the imports need ${packages.length} packages, ${limits.packages} are allowed: import less, or a smaller package`,
      { code: "too_many_packages", details: { packages: packages.length, limit: limits.packages } },
    );
  }
}

const refusePackage = (name: string, reason: string): Error => refuse("package_refused", `package ${name} ${reason}`, { package: name });
