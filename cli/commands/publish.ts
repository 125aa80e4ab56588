import { basename } from "node:path";
import type { Definition } from "../command.ts";
import { rootOption, sendingOf, type Sending } from "../component/sending.ts";
import { explained } from "../component/rejection.ts";
import { readText } from "../values.ts";

export const command: Definition = {
  description:
    "Saves a component with the files that it imports, without deploying it. Of several files, the first one exports the component.",
  arguments: [{ name: "<file...>", description: "files or one address of a component", completes: "file" }],
  options: [rootOption],
  examples: [{ command: "hw publish hello.mjs", does: "Save a component." }],
  operations: ["saveComponent"],
  run: async (context, given) => {
    const { client, out, terminal } = context;
    const body = await bodyOf(given.list("file"), sendingOf(context, given));
    const answer = await terminal.progress("Building", () => explained(() => client.call("saveComponent", { body })));
    for (const { message } of answer.warnings ?? []) out.note(`warning: ${message}`);
    await out.done(answer, `component ${answer.data.id} saved`);
  },
};

async function bodyOf(files: readonly string[], sending: Sending): Promise<object> {
  const [first = ""] = files;
  if (files.length === 1 && /^(https?|npm):/.test(first)) return { component_url: first };
  if (files.length === 1) return sending(first);
  const texts = await Promise.all(files.map(async (file) => [basename(file), await readText(file)] as const));
  return { component_files: Object.fromEntries(texts), component_entry: basename(first) };
}
