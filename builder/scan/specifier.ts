import { isBuiltin } from "node:module";
import { isPackageName, isRange } from "../../domain/component/npm-origin.ts";
import { manifestRange } from "./manifests.ts";
import type { Modules } from "./modules.ts";

/** What an import names, as a component may write it. */
export type Specifier =
  | { readonly kind: "builtin"; /** Without `node:`. */ readonly name: string }
  | {
      readonly kind: "package";
      readonly name: string;
      /** Version, range, tag or `npm:other@range`, after `@` or from a package.json; null when none is written. */
      readonly range: string | null;
      /** "" or `/sub/path`. */ readonly subpath: string;
    }
  /**
   * `@pipedream/platform` (`@pipedreamhq/platform` of old), `@pipedream/types` or `headwater/types`, and `headwater/pieces`: our own
   * implementation.
   */
  | { readonly kind: "platform"; readonly module: "platform" | "types" | "pieces" }
  | { readonly kind: "refused"; readonly reason: string };

const shape = /^((?:@[^/@]+\/)?[^/@]+)(?:@([^/]+))?(\/.*)?$/;

/** Takes `axios`, `axios@1.6`, `@scope/x@^2/sub`, `npm:axios@1`, `node:fs`; refuses paths and addresses, saying what to do instead. */
export function parseSpecifier(text: string): Specifier {
  if (/^\.{0,2}(\/|\\|$)|^[a-z]:\\/i.test(text))
    return refused("modules are named by paths relative to the importing one, such as ./util.mjs, or come from npm by name");
  if (text.startsWith("#")) return refused("names that begin with # belong to a package's own package.json");
  if (text.startsWith("node:")) {
    return isBuiltin(text) ? { kind: "builtin", name: text.slice(5) } : refused("Node has no built-in module of this name");
  }
  if (text.startsWith("npm:")) return parsePackage(text.slice(4));
  if (/^[a-z][a-z0-9+.-]*:/i.test(text)) return refused("modules come from npm by name, not from an address");
  if (isBuiltin(text)) return { kind: "builtin", name: text };
  return parsePackage(text);
}

/** The same, where a package without a version has the one of the component's own package.json, if there is one. */
export function specifierIn(modules: Pick<Modules, "texts">, importer: string, text: string): Specifier {
  const specifier = parseSpecifier(text);
  if (specifier.kind !== "package" || specifier.range !== null) return specifier;
  const written = manifestRange(modules, importer, specifier.name);
  if (written === undefined) return specifier;
  const range = written.range.trim() === "" ? "*" : written.range.trim();
  if (isRange(range) || isAlias(range)) return { ...specifier, range };
  return refused(`${written.file} asks for "${range.slice(0, 80)}", and only versions, semver ranges and tags of the registry can be used`);
}

function parsePackage(text: string): Specifier {
  const [, name = "", range, subpath = ""] = shape.exec(text) ?? [];
  if (name in Object.prototype)
    return refused("npm cannot install a package of this name, which is a property of every JavaScript object: use another package");
  if (!isPackageName(name)) return refused("this is no name of an npm package");
  if (subpath.split("/").includes("..")) return refused("a path inside a package must not climb out of it");
  if (/^@pipedream(hq)?\/platform$/.test(name)) return { kind: "platform", module: "platform" };
  if (name === "headwater" && subpath === "/pieces") return { kind: "platform", module: "pieces" };
  if (name === "@pipedream/types" || (name === "headwater" && subpath === "/types")) return { kind: "platform", module: "types" };
  if (range === "~" || range === "^") return refused(`"${range}" is no version: a number must follow it`);
  if (range !== undefined && !isRange(range)) {
    return refused(`"${range}" is no version, semver range or tag (right: "${name}@1.2.3", "${name}@^1")`);
  }
  return { kind: "package", name, range: range ?? null, subpath };
}

/** `npm:other@^1`: another package under the name that is imported. */
function isAlias(range: string): boolean {
  const [, name = "", wanted] = /^npm:((?:@[^/@]+\/)?[^/@]+)(?:@([^/]+))?$/.exec(range) ?? [];
  return isPackageName(name) && (wanted === undefined || isRange(wanted));
}

const refused = (reason: string): Specifier => ({ kind: "refused", reason });
