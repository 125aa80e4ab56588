import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { App } from "../../domain/app/app.ts";
import { joinTables, parseAppTable } from "../../domain/app/app-table.ts";
import { Invariant } from "../../domain/errors.ts";

/** The tables of apps in the source tree. */
export const appsDirectory = join(import.meta.dirname, "..", "..", "registry", "apps");

/** The apps that come with Headwater, by slug. An app of our own table replaces the imported one. @throws Invariant */
export async function readApps(directory: string = appsDirectory): Promise<ReadonlyMap<string, App>> {
  try {
    const [own = [], imported = []] = await Promise.all(
      ["apps.json", "imported.json"].map(async (file) => parseAppTable(JSON.parse(await readFile(join(directory, file), "utf8")))),
    );
    return joinTables(own, imported);
  } catch (cause) {
    throw new Invariant(`the tables of apps in ${directory} cannot be read: reinstall`, { cause });
  }
}
