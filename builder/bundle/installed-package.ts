import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Specifier } from "../scan/specifier.ts";

type Package = Extract<Specifier, { kind: "package" }>;

const manifest = z.looseObject({ name: z.string().max(214), version: z.string().max(100), exports: z.unknown().optional() });
const maxNames = 5;

/** Error for a path that an installed package does not have, with the paths that it has. */
export async function nothingToImport(packages: string, key: string, { name, range, subpath }: Package): Promise<Nothing> {
  const { described, exports, version } = await describePackage(packages, key, range, name);
  const names = subpathsIn(exports).slice(0, maxNames);
  const instead = names.length === 0 ? "" : `; it offers ${names.map((path) => `"${name}${path.slice(1)}"`).join(", ")}`;
  const text = `package ${described} has nothing to import under "${name}${subpath}"${instead}`;
  return { text, detail: { package: name, ...(version !== undefined && { version }) } };
}

interface Nothing {
  readonly text: string;
  readonly detail: { readonly package: string; readonly version?: string };
}

interface Described {
  readonly name: string;
  /** `axios 1.6.8 (asked for: ^1)`. */
  readonly described: string;
  readonly exports: unknown;
  /** The installed version. */
  readonly version: string | undefined;
}

/** @param range as requested; null or `latest` if no version was requested */
export async function describePackage(packages: string, key: string, range: string | null, name?: string): Promise<Described> {
  const found = await readManifest(join(packages, "node_modules", key, "package.json"));
  const known = name ?? found?.name ?? key;
  const asked = range === null || range === "latest" ? "the latest" : range.replace(/^npm:.+@/, "");
  return {
    name: known,
    described: found === undefined ? known : `${known} ${found.version} (asked for: ${asked})`,
    exports: found?.exports,
    version: found?.version,
  };
}

async function readManifest(file: string): Promise<z.infer<typeof manifest> | undefined> {
  try {
    return manifest.parse(JSON.parse(await readFile(file, "utf8")));
  } catch {
    return undefined;
  }
}

function subpathsIn(exports: unknown): readonly string[] {
  return typeof exports === "object" && exports !== null ? Object.keys(exports).filter((path) => /^\.($|\/)/.test(path)) : [];
}
