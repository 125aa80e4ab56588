import type { Subcommand } from "./command.ts";
import { listKind } from "./commands/list.ts";
import { kindNamed } from "./kinds/kinds.ts";
import { listOptions } from "./listing.ts";

/** `hw <kind> list`, the same as `hw list <kind>`. */
export function listSubcommand(kindName: string): Subcommand {
  const kind = kindNamed(kindName);
  return {
    name: "list",
    aliases: ["ls"],
    isDefault: true,
    summary: `list ${kind.name}`,
    options: listOptions,
    examples: [],
    operations: kind.operations.filter((id) => id.startsWith("list")),
    run: (context, given) => listKind(context, kind, given),
  };
}
