import type { Definition, OptionDefinition } from "../command.ts";
import type { OperationId } from "../../client/client.ts";
import { usageFailure } from "../failure.ts";
import { readManifests } from "../resources/manifest.ts";
import { applyStep, inOrder, planStep } from "../resources/plan.ts";
import { Session } from "../resources/session.ts";

export const filesOption: OptionDefinition = {
  flags: "-f, --file <file>",
  description: "YAML or JSON file with resources; - is standard input; can be repeated",
  value: "list",
};

export const readOperations: readonly OperationId[] = [
  ...(["listComponents", "listMyAccounts", "listMyWebhooks", "listMySources", "listMyWorkflows"] as const),
  ...(["listMySubscriptions", "listMyAutoSubscriptions", "getComponent"] as const),
  ...(["listApps", "listMyOAuthClients", "listDataStores"] as const),
];

export const command: Definition = {
  description:
    "Creates and changes resources from files, in the form of kubectl's custom resources (docs/resources.md), over the REST API. " +
    "Resources that exist are found by their name or, if `hw export` wrote the file, by their id. Fields that a file omits stay as they are. " +
    "Secrets and ConfigMaps that they refer to must be in the files. Values of secrets cannot be compared: --force applies them again.",
  options: [
    filesOption,
    { flags: "--force", description: "also update resources that seem unchanged" },
    { flags: "--dry-run", description: "print what would be done, and do nothing" },
  ],
  examples: [
    { command: "hw apply -f resources.yaml", does: "Create or change resources." },
    { command: "hw apply -f resources.yaml --dry-run", does: "Print what would be created or changed." },
  ],
  operations: [
    ...readOperations,
    ...(["saveComponent", "createAccount", "updateAccount", "createWebhook", "updateWebhook", "createSource", "updateSource"] as const),
    ...(["createApp", "updateApp", "getApp", "createOAuthClient", "updateOAuthClient"] as const),
    ...(["createDataStore", "updateDataStore"] as const),
    ...(["createWorkflow", "updateWorkflow", "subscribe", "subscribeToAll"] as const),
  ],
  run: async ({ client, out, terminal }, given) => {
    const files = given.list("file");
    if (files.length === 0) throw usageFailure("the file is missing", "add -f FILE, or -f - for standard input");
    const manifests = await readManifests(files);
    const session = new Session(client, manifests);
    const done = { create: "created", update: "changed", unchanged: "unchanged" } as const;
    for (const { kind, manifest } of inOrder(manifests.resources)) {
      const name = `${kind.name.toLowerCase()}/${manifest.name}`;
      const step = await planStep(session, kind, manifest, given.flag("force"));
      if (given.flag("dry-run")) {
        if (step.action === "create") session.remember(kind.name, manifest.name, `${kind.listed.prefix ?? ""}_new`);
        await out.record({ resource: name, action: step.action }, () => [
          `${name} ${step.action === "unchanged" ? "unchanged" : `would be ${done[step.action]}`}`,
        ]);
        continue;
      }
      const id = await terminal.progress(`Applying ${name}`, () => applyStep(session, step));
      await out.record({ resource: name, id, action: done[step.action] }, () => [`${name} ${done[step.action]}`]);
    }
  },
};
