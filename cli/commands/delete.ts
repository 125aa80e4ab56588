import type { Definition } from "../command.ts";
import { kinds } from "../kinds/kinds.ts";
import { referredTo } from "../references.ts";

const deletable = kinds.filter((kind) => kind.delete !== undefined);

export const command: Definition = {
  description: `Deletes ${deletable.map(({ name }) => name).join(", ")}. Deleting a source deletes its events.`,
  arguments: [{ name: "<thing...>", description: "ids, names, or kind/name", completes: "source" }],
  options: [
    { flags: "-y, --yes", description: "delete without asking" },
    { flags: "--ignore-hook-errors", description: "call the deactivate hook of a source once instead of three times" },
    { flags: "--force", description: "also delete a source that triggers workflows, or an account or data store in use" },
  ],
  examples: [{ command: "hw delete hello --yes", does: "Delete a source." }],
  operations: [
    "deleteSource",
    "deleteWorkflow",
    "deleteComponent",
    "deleteWebhook",
    "deleteSubscription",
    "deleteAccount",
    "deleteApp",
    "deleteOAuthClient",
    "deleteDataStore",
    "deleteOrganization",
    "revokeKey",
  ],
  run: async ({ client, out, terminal }, given) => {
    const found = await Promise.all(
      given.list("thing").map((text) =>
        referredTo(
          client,
          text,
          deletable.map(({ name }) => name),
        ),
      ),
    );
    const named = found.map(({ kind, id }) => `${kind.noun} ${id}`).join(", ");
    await terminal.confirm(`Delete ${named}?`, given.flag("yes"));
    for (const { kind, id } of found) {
      await terminal.progress(`Deleting ${id}`, async () =>
        kind.delete?.(client, id, { ignoresHookErrors: given.flag("ignore-hook-errors"), isForced: given.flag("force") }),
      );
      await out.done({ data: { id } }, `${kind.noun} ${id} deleted`);
    }
  },
};
