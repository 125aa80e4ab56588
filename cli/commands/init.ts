import { basename, join } from "node:path";
import type { Definition, Subcommand } from "../command.ts";
import type { OfflineContext } from "../context.ts";
import { usageFailure } from "../failure.ts";
import type { Given } from "../given.ts";
import { filesFromPackage } from "../init/from-package.ts";
import { projectFiles, writeFiles, writeProject } from "../init/project.ts";
import { templates, type Template } from "../init/templates.ts";

const nameArgument = { name: "<name>", description: "name of the new folder and of what is in it" } as const;
const js = { flags: "--js", description: "JavaScript instead of TypeScript" } as const;
const kinds = ["source", "action", "workflow"] as const;
type Kind = (typeof kinds)[number];

const sourceTemplates = templates.filter(({ kind }) => kind === "source");
const templateOption = {
  flags: "-t, --template <template>",
  description: sourceTemplates.map(({ name, does }) => `${name} ${does}`).join("; "),
  choices: sourceTemplates.map(({ name }) => name),
};

const fromOption = {
  flags: "--from <address>",
  description: "begin with a component of npm, such as npm:<package>#trigger/<name>, in JavaScript; an installation reads the package",
};

const subcommandOf = (kind: Kind): Subcommand => ({
  name: kind,
  summary: `write a new ${kind} with a test`,
  isOffline: true,
  arguments: [nameArgument],
  options: [...(kind === "source" ? [templateOption] : []), fromOption, js],
  examples: [
    { command: `hw init ${kind} my-${kind}`, does: `Write ${kind === "action" ? "an" : "a"} ${kind} into the folder my-${kind}.` },
    ...(kind === "source"
      ? [{ command: "hw init source orders --template http --js", does: "Write a source for HTTP requests in JavaScript." }]
      : []),
    ...(kind === "workflow"
      ? [
          {
            command: "hw init workflow notes --from npm:@activepieces/piece-slack#action/send_channel_message",
            does: "Write a workflow with an action of a package.",
            isInert: true,
          },
        ]
      : []),
  ],
  operations: ["saveComponent", "getComponent"],
  run: (context, given) => init(context, given, kind),
});

export const command: Definition = {
  description: "Writes a new project into an empty folder: a component, a test, and types for your editor. Nothing is to be installed.",
  examples: [{ command: "hw init source hello", does: "Write a source into the folder hello." }],
  operations: [],
  subcommands: kinds.map(subcommandOf),
};

async function init(context: OfflineContext, given: Given, kind: Kind): Promise<void> {
  const { out, directory } = context;
  const path = given.required("name");
  const name = basename(path);
  if (!/^[a-z0-9][a-z0-9._-]{0,99}$/i.test(name)) throw usageFailure(`name "${name}" is invalid`, "use letters, digits, dots and dashes");
  const address = given.text("from");
  if (address !== undefined) return initFrom(context, { path, name, kind, address });
  const isTypeScript = !given.flag("js");
  const options = { name, template: templateOf(kind === "source" ? (given.text("template") ?? "timer") : "action"), isTypeScript };
  const files = await projectFiles({ ...options, isWorkflow: kind === "workflow" });
  await writeProject(join(directory, path), files);
  const [file = ""] = Object.keys(files);
  const written = { path, files: Object.keys(files) };
  await out.done({ data: written }, [`${kind} ${name} written. Next:`, ...nextSteps(kind, path, file)].join("\n"));
}

interface From {
  readonly path: string;
  readonly name: string;
  readonly kind: Kind;
  readonly address: string;
}

async function initFrom(context: OfflineContext, { path, ...from }: From): Promise<void> {
  const { client, close } = await context.connect();
  try {
    const files = await filesFromPackage(client, from);
    await writeFiles(join(context.directory, path), files);
    const target = from.kind === "workflow" ? "workflow.yaml" : (Object.keys(files)[0] ?? "");
    const next = from.kind === "action" ? "hw publish" : "hw deploy";
    await context.out.done(
      { data: { path, files: Object.keys(files) } },
      `${from.kind} ${from.name} written. Next:\n  ${next} ${path}/${target}`,
    );
  } finally {
    await close();
  }
}

function templateOf(name: string): Template {
  const found = templates.find((template) => template.name === name);
  if (found === undefined) throw usageFailure(`there is no template ${name}`, `there are ${templates.map((each) => each.name).join(", ")}`);
  return found;
}

function nextSteps(kind: Kind, path: string, file: string): string[] {
  const steps = {
    source: [`hw dev ${path}/${file}`, "run it, and deploy it on each save"],
    action: [`hw publish ${path}/${file}`, "save it, so that workflows can use it"],
    workflow: [`hw deploy ${path}/workflow.yaml`, "create or change the workflow"],
  }[kind];
  const rows = [steps, [`cd ${path} && npm test`, "run its test"]];
  const width = Math.max(...rows.map(([command = ""]) => command.length)) + 3;
  return rows.map(([command = "", does = ""]) => `  ${command.padEnd(width)}${does}`);
}
