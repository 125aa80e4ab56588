import { basename, dirname, extname, resolve } from "node:path";
import type { Client } from "../../client/client.ts";
import type { Source } from "../../client/generated/operations.ts";
import { itemsOf, maxPageItems } from "../../client/pages.ts";

/** The name of the source to which a user deploys a file while writing it: the same each time, and another for each user and project. */
export function personalName(username: string, file: string): string {
  const path = resolve(file);
  const stem = basename(path, extname(path));
  const folder = basename(dirname(path));
  return ["dev", username, ...(folder === stem || folder === "" ? [] : [folder]), stem].join(" ");
}

export async function findPersonal(client: Client, name: string): Promise<Source | undefined> {
  const pages = itemsOf((after) =>
    client.call("listMySources", { query: { q: name, limit: maxPageItems, ...(after === undefined ? {} : { after }) } }),
  );
  for await (const source of pages) if (source.name === name) return source;
  return undefined;
}
