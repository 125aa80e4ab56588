import type { Definition } from "../command.ts";
import type { Context } from "../context.ts";
import type { Given } from "../given.ts";
import { kindNamed, kindNames, kinds } from "../kinds/kinds.ts";
import type { Kind, PageQuery } from "../kinds/kind.ts";
import { listOptions, showList } from "../listing.ts";

export const command: Definition = {
  description: `Lists things of a kind, newest first: ${kindNames.join(", ")}. Further pages are fetched as needed.`,
  arguments: [{ name: "[kind]", description: "what to list; by default sources", completes: "kind" }],
  options: listOptions,
  examples: [
    { command: "hw list sources", does: "List your sources." },
    { command: "hw list webhooks -o wide", does: "List webhooks with all columns." },
    { command: "hw list sources -o json", does: "Print what the API answers." },
    { command: "hw list sources --watch", does: "Print each source whose state changes.", isInert: true },
  ],
  operations: [...new Set(kinds.flatMap(({ operations }) => operations))].filter((id) => id.startsWith("list") || id === "getMe"),
  run: (context, given) => listKind(context, kindNamed(given.text("kind") ?? "sources"), given),
};

/** Prints the things of a kind: the organization's with `--org`, otherwise the caller's. */
export async function listKind(context: Context, kind: Kind, given: Given): Promise<void> {
  const { client, profile } = context;
  const { name, columns, nameOf, list, listOfOrganization } = kind;
  const read = (query: PageQuery): ReturnType<Kind["list"]> =>
    profile.org === undefined || listOfOrganization === undefined ? list(client, query) : listOfOrganization(client, profile.org, query);
  await showList(context, given, { what: name, columns, nameOf, read });
}
