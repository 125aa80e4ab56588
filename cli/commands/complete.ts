import type { Client } from "../../client/client.ts";
import type { Definition } from "../command.ts";
import type { OfflineContext } from "../context.ts";
import { kindNames, kinds } from "../kinds/kinds.ts";
import { collect } from "../pages.ts";
import { listStored } from "../profile/find.ts";

const maxItems = 100;

export const command: Definition = {
  description: "Prints what completes the last word. Scripts of `hw completion` call it.",
  arguments: [{ name: "[word...]", description: "words after hw, the last one incomplete" }],
  examples: [{ command: "hw complete -- ev", does: "Print the commands that begin with ev." }],
  operations: [],
  isOffline: true,
  run: async (context, given) => {
    const words = given.list("word");
    const current = words.at(-1) ?? "";
    const { words: candidates, reference } = await context.complete(words);
    const referred = current.startsWith("-") || reference === undefined ? [] : await wordsOf(context, reference).catch(() => []); // No server, no words.
    for (const word of [...candidates, ...referred].filter((each) => each.startsWith(current))) await context.out.line(word);
  },
};

async function wordsOf(context: OfflineContext, reference: string): Promise<readonly string[]> {
  if (reference === "kind") return kindNames;
  if (reference === "file") return [];
  if (reference === "profile") return (await listStored(context.env)).profiles.map(({ name }) => name);
  const { client, close } = await context.connect();
  try {
    return await namesAndIds(client, reference);
  } finally {
    await close();
  }
}

async function namesAndIds(client: Client, reference: string): Promise<string[]> {
  const kind = kinds.find(({ noun, aliases }) => noun === reference || aliases.includes(reference));
  if (kind === undefined) return [];
  const { data } = await collect((query) => kind.list(client, query), maxItems);
  return data.flatMap(
    (item) => [...(kind.namesOf?.(item) ?? []), item["id"]].filter((word) => typeof word === "string" && !word.includes(" ")) as string[],
  );
}
