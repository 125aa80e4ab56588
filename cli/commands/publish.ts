import { basename } from "node:path";
import type { Definition } from "../command.ts";
import { readText } from "../values.ts";

export const command: Definition = {
  description: "Saves a component, without deploying it. Given several files, the first one exports the component.",
  arguments: [{ name: "<file...>", description: "files or one address of a component", completes: "file" }],
  examples: [{ command: "hw publish hello.mjs", does: "Save a component." }],
  operations: ["saveComponent"],
  run: async ({ client, out, terminal }, given) => {
    const files = given.list("file");
    const [first = ""] = files;
    const isAddress = files.length === 1 && /^https?:/.test(first);
    const texts = isAddress ? [] : await Promise.all(files.map(async (file) => [basename(file), await readText(file)] as const));
    const body = isAddress ? { component_url: first } : { component_files: Object.fromEntries(texts), component_entry: basename(first) };
    const answer = await terminal.progress("Building", () => client.call("saveComponent", { body }));
    for (const { message } of answer.warnings ?? []) out.note(`warning: ${message}`);
    await out.done(answer, `component ${answer.data.id} saved`);
  },
};
