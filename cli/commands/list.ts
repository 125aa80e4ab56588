import type { Definition } from "../command.ts";
import type { Context } from "../context.ts";
import type { Given } from "../given.ts";
import { kindNamed, kindNames, kinds } from "../kinds/kinds.ts";
import type { Kind } from "../kinds/kind.ts";
import { collect } from "../pages.ts";
import { watchList, type ListView } from "../output/watch.ts";

export const command: Definition = {
  description: `Lists things of a kind, newest first: ${kindNames.join(", ")}. Further pages are fetched as needed.`,
  arguments: [{ name: "[kind]", description: "what to list; by default sources", completes: "kind" }],
  options: [
    { flags: "-n, --limit <count>", description: "list at most this many", value: "count" },
    { flags: "-w, --watch", description: "keep running, and print what changes" },
  ],
  examples: [
    { command: "hw list sources", does: "List your sources." },
    { command: "hw list webhooks -o wide", does: "List webhooks with all columns." },
    { command: "hw list sources -o json", does: "Print what the API answers." },
  ],
  operations: [...new Set(kinds.flatMap(({ operations }) => operations))].filter((id) => id.startsWith("list") || id === "getMe"),
  run: async (context, given) => listKind(context, kindNamed(given.text("kind") ?? "sources"), given),
};

/** Prints the list of a kind, once or with `--watch` again and again. */
export async function listKind(context: Context, kind: Kind, given: Given): Promise<void> {
  const { client, terminal } = context;
  const limit = given.count("limit");
  const view: ListView = {
    columns: kind.columns,
    nameOf: kind.nameOf,
    read: () => terminal.progress(`Listing ${kind.name}`, () => collect((query) => kind.list(client, query), limit)),
  };
  if (given.flag("watch")) return watchList(context, view);
  const answer = await view.read();
  await context.out.list(answer, view.columns, view.nameOf);
  if (answer.data.length === 0) context.out.note(`no ${kind.name}`);
}
