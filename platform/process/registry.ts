import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { componentDefinition } from "../../domain/component/definition-schema.ts";
import type { ComponentCode } from "../../domain/component/component-code.ts";
import type { ComponentDefinition } from "../../domain/component/definition.ts";
import { Invariant } from "../../domain/errors.ts";

/** Our own components, in the source tree. */
export const registryDirectory = join(import.meta.dirname, "..", "..", "registry");

/** A component of the registry, from its files. */
export interface RegistryEntry extends ComponentCode {
  readonly key: string;
  /** The definition that the builder will extract from its code. */
  readonly definition: ComponentDefinition;
  /** Release date of its version, `YYYY-MM-DD`. */
  readonly released: string;
}

/** Written by scripts/generate/registry-index.ts. Paths are relative to the index. */
const index = z.array(
  z.object({
    key: z.string(),
    entry: z.string(),
    files: z.array(z.string()),
    released: z.iso.date(),
    definition: componentDefinition,
  }),
);

/** Reads all components of the installation at once: they are few and small. @throws Invariant when files are missing or invalid */
export async function readRegistry(directory: string): Promise<readonly RegistryEntry[]> {
  try {
    const entries = index.parse(JSON.parse(await readFile(join(directory, "index.json"), "utf8")));
    return await Promise.all(
      entries.map(async ({ key, entry, files, released, definition }) => {
        const texts = await Promise.all(files.map(async (file) => [file, await readFile(join(directory, file), "utf8")] as const));
        const code = await readFile(join(directory, entry), "utf8");
        return { key, code, entry, files: Object.fromEntries(texts), released, definition };
      }),
    );
  } catch (cause) {
    throw new Invariant(`the registry of components in ${directory} cannot be read: reinstall, or run \`npm run generate\``, { cause });
  }
}
