import type { CommandEntry } from "./command.ts";

/** All commands, in the order of the help. */
export const commands: readonly CommandEntry[] = [
  {
    name: "list",
    aliases: ["ls", "get"],
    group: "Read",
    summary: "list sources, workflows, webhooks and more",
    load: () => import("./commands/list.ts"),
  },
  { name: "version", group: "Set up", summary: "show the version of hw and of the server", load: () => import("./commands/version.ts") },
];
