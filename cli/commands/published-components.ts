import { componentArgument, findDeployable } from "../component/named.ts";
import { explained } from "../component/rejection.ts";
import { rootOption, sendingOf } from "../component/sending.ts";
import type { Subcommand } from "../command.ts";
import type { Context } from "../context.ts";
import { usageFailure } from "../failure.ts";
import type { Given } from "../given.ts";
import { adminClient, adminOption } from "./admin/token.ts";

const version = { name: "<version>", description: "a published version, such as acme-feed@1.2.0" } as const;

/** `hw components …`, for admins of the installation. */
export const publishing: readonly Subcommand[] = [
  {
    name: "publish",
    summary: "publish a component in the registry, for all owners",
    description:
      "Publishes a component in the registry, for all owners. Its key must be `<app>-<name>` and its version a semantic version, which never changes. Needs the admin token of the installation; a file is saved first, as a component of yours.",
    arguments: [componentArgument],
    options: [adminOption, rootOption],
    examples: [
      { command: "hw components publish acme-feed.mjs", does: "Publish a file." },
      { command: "hw components publish sc_0123456789ab", does: "Publish a saved component of any owner.", isInert: true },
    ],
    operations: ["adminPublishComponent", "saveComponent", "getComponent", "getPublishedComponent"],
    run: async (context, given) => {
      const text = given.required("component");
      const id = text.startsWith("sc_") ? text : await savedId(context, given, text);
      const admin = await adminClient(context, given);
      const answer = await explained(() => admin.call("adminPublishComponent", { path: { id } }));
      for (const { message } of answer.warnings ?? []) context.out.note(`warning: ${message}`);
      await context.out.done(answer, `${answer.data.key}@${answer.data.version ?? ""} published`);
    },
  },
  {
    name: "deprecate",
    summary: "deprecate a published version: its users get a warning",
    description:
      "Deprecates a published version. Those who use it get the reason as a warning, and its key stands for the newest version that is not deprecated. Needs the admin token of the installation.",
    arguments: [version],
    options: [
      { flags: "--reason <text>", description: "why, and what to use instead" },
      { flags: "--undo", description: "end the deprecation" },
      adminOption,
    ],
    examples: [
      { command: "hw components deprecate acme-feed@1.0.0 --reason 'loses items: use 1.1.0'", does: "Deprecate a version." },
      { command: "hw components deprecate acme-feed@1.0.0 --undo", does: "End its deprecation." },
    ],
    operations: ["adminDeprecatePublishedVersion"],
    run: async (context, given) => {
      const reason = given.text("reason");
      if ((reason === undefined) !== given.flag("undo"))
        throw usageFailure("the reason is missing, or is given with --undo", "add --reason TEXT, or --undo");
      const admin = await adminClient(context, given);
      const path = { published_version: given.required("version") };
      const answer = await admin.call("adminDeprecatePublishedVersion", { path, body: { deprecated: reason ?? null } });
      const outcome = reason === undefined ? "is no longer deprecated" : "deprecated";
      await context.out.done(answer, `${path.published_version} ${outcome}`);
    },
  },
  {
    name: "unpublish",
    summary: "delete a deprecated version from the registry",
    description:
      "Deletes a deprecated version from the registry. Sources and workflows that run it continue; its number cannot be published again. Needs the admin token of the installation.",
    arguments: [version],
    options: [adminOption, { flags: "-y, --yes", description: "delete without asking" }],
    examples: [{ command: "hw components unpublish acme-feed@1.0.0 --yes", does: "Delete a deprecated version." }],
    operations: ["adminDeletePublishedVersion"],
    run: async (context, given) => {
      const path = { published_version: given.required("version") };
      const admin = await adminClient(context, given);
      await context.terminal.confirm(`Delete ${path.published_version}?`, given.flag("yes"));
      await admin.call("adminDeletePublishedVersion", { path });
      await context.out.done({ data: { id: path.published_version } }, `${path.published_version} deleted`);
    },
  },
];

/** A file is saved as a component of the caller's. */
async function savedId(context: Context, given: Given, text: string): Promise<string> {
  const { body } = await explained(() => findDeployable(context.client, text, sendingOf(context, given)));
  if ("component_id" in body) return body.component_id;
  throw usageFailure(`${text} is a component of the registry, not one of yours`, "write a file, or the id or key of a component of yours");
}
