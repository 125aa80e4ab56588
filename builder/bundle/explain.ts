import { dirname, resolve } from "node:path";
import type { Message } from "esbuild";
import { modulePathOf, placeOf, plainText } from "../scan/code-frame.ts";
import { refuse, refuseAt } from "../errors.ts";
import { cannotBeStrict } from "../scan/strictness.ts";
import { describePackage } from "./installed-package.ts";
import { isInside, outsidePackages, type PluginOptions } from "./plugin.ts";

type Bundled = Pick<PluginOptions, "modules" | "packages" | "dependencies" | "platform">;

/** Of an import whose path is computed: esbuild looks for what fits, and says of folders and files that there are none. */
const computed = /^(?:Could not resolve|The glob pattern) (?:import|require)\("([^"]*\*[^"]*)"/;

/** @throws InvalidInput for a computed path out of the packages, whether or not a file exists there: the error must not reveal it. */
export function refuseOutside(messages: readonly Message[], bundled: Bundled): void {
  const outside = messages.find((message) => isOutside(message, bundled));
  if (outside !== undefined) throw refuseFile(outside, outsidePackages);
}

function isOutside({ text, location }: Message, bundled: Bundled): boolean {
  const [, pattern] = computed.exec(text) ?? [];
  if (pattern === undefined || location === null || modulePathOf(location.file) !== undefined) return false;
  return !isInside(bundled, resolve(bundled.packages, dirname(location.file), pattern));
}

/** Converts esbuild's errors, with the position in the user's module where possible. */
export async function explainBundle(error: unknown, bundled: Bundled): Promise<unknown> {
  if (!(error instanceof Error) || !("errors" in error)) return error;
  // BuildFailure's own type.
  const [first] = error.errors as Message[];
  if (!first) return error;
  if (first.location && modulePathOf(first.location.file) !== undefined) {
    const { code, text, details } = (await missingExport(first, bundled)) ?? {
      code: "bundle_error" as const,
      text: plainText(first.text),
      details: packageOf(first),
    };
    return refuseAt(code, text, bundled.modules, placeOf(first.location), details);
  }
  return refuseFile(first, isOutside(first, bundled) ? outsidePackages : inPlainWords(first));
}

/** Sloppy code cannot be bundled together with a module that has top-level await. */
function inPlainWords(message: Message): string {
  if (!cannotBeStrict(message)) return message.text;
  const what = message.text.replace(/ (?:and )?cannot be used with the "esm" output format due to strict mode$/, "");
  return `${what}: strict code may not hold this, and a component that awaits at its top level is strict with all its packages; move the await into run or a hook`;
}

/** An error in a package's file. */
function refuseFile(message: Message, text: string): Error {
  const file = message.location?.file.replace(/^.*node_modules\//, "");
  return refuse(
    "bundle_error",
    file ? `${file}:${message.location?.line ?? 1}: ${text}` : text,
    file ? { ...packageOf(message), text: file } : packageOf(message),
  );
}

/** The plugin's data about a package: its name and installed version. */
function packageOf({ detail }: Message): { package?: string; version?: string } {
  const details: unknown = detail;
  if (typeof details !== "object" || details === null || !("package" in details)) return {};
  return { package: String(details.package), ...("version" in details && { version: String(details.version) }) };
}

/** Names the package and version that lack the imported name, instead of the file. */
async function missingExport({ text }: Message, { packages, dependencies }: Bundled) {
  const [, key, name] = /^No matching export in "node_modules\/((?:@[^/"]+\/)?[^/"]+)\/[^"]*" for import "([^"]*)"/.exec(text) ?? [];
  if (key === undefined || name === undefined) return undefined;
  const { name: packageName, described, version } = await describePackage(packages, key, dependencies.wanted[key] ?? null);
  const says = name === "default" ? "has no default export" : `has no export "${name}"`;
  return {
    code: "export_not_found" as const,
    text: `package ${described} ${says}`,
    details: { package: packageName, ...(version !== undefined && { version }) },
  };
}
