import type { Definition } from "../command.ts";
import type { Context } from "../context.ts";
import { usageFailure } from "../failure.ts";
import { openInBrowser } from "../output/browser.ts";
import { referredTo } from "../references.ts";

export const command: Definition = {
  description: "Opens a page of the web console in your browser. Without a browser it prints the address.",
  arguments: [{ name: "[thing]", description: "a source, workflow, webhook, …; by default the first page", completes: "source" }],
  options: [{ flags: "--print", description: "print the address only" }],
  examples: [
    { command: "hw open hello --print", does: "Print the address of the page of a source." },
    { command: "hw open", does: "Open the console.", isInert: true },
  ],
  operations: [],
  run: async (context, given) => {
    const thing = given.text("thing");
    const url = new URL(thing === undefined ? "/" : await pathOf(context, thing), context.profile.url).href;
    await context.out.line(url);
    if (!given.flag("print")) await openInBrowser(url, context);
  },
};

async function pathOf({ client }: Context, text: string): Promise<string> {
  const { kind, id } = await referredTo(client, text);
  if (kind.consolePath === undefined) throw usageFailure(`${kind.name} have no page in the console`);
  return `/${kind.consolePath}/${encodeURIComponent(id)}`;
}
