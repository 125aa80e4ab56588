import { basename, join } from "node:path";
import type { Definition, Subcommand } from "../command.ts";
import type { OfflineContext } from "../context.ts";
import { usageFailure } from "../failure.ts";
import type { Given } from "../given.ts";
import { projectFiles, writeProject } from "../init/project.ts";
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

const subcommandOf = (kind: Kind): Subcommand => ({
  name: kind,
  summary: `write a new ${kind} with a test`,
  isOffline: true,
  arguments: [nameArgument],
  options: [...(kind === "source" ? [templateOption] : []), js],
  examples: [
    { command: `hw init ${kind} my-${kind}`, does: `Write ${kind === "action" ? "an" : "a"} ${kind} into the folder my-${kind}.` },
    ...(kind === "source"
      ? [{ command: "hw init source orders --template http --js", does: "Write a source for HTTP requests in JavaScript." }]
      : []),
  ],
  operations: [],
  run: (context, given) => init(context, given, kind),
});

export const command: Definition = {
  description: "Writes a new project into an empty folder: a component, a test, and types for your editor. Nothing is to be installed.",
  examples: [{ command: "hw init source hello", does: "Write a source into the folder hello." }],
  operations: [],
  subcommands: kinds.map(subcommandOf),
};

async function init({ out, directory }: OfflineContext, given: Given, kind: Kind): Promise<void> {
  const path = given.required("name");
  const name = basename(path);
  if (!/^[a-z0-9][a-z0-9._-]{0,99}$/i.test(name)) throw usageFailure(`name "${name}" is invalid`, "use letters, digits, dots and dashes");
  const isTypeScript = !given.flag("js");
  const options = { name, template: templateOf(kind === "source" ? (given.text("template") ?? "timer") : "action"), isTypeScript };
  const files = await projectFiles({ ...options, isWorkflow: kind === "workflow" });
  await writeProject(join(directory, path), files);
  const [file = ""] = Object.keys(files);
  const written = { path, files: Object.keys(files) };
  await out.done({ data: written }, [`${kind} ${name} written. Next:`, ...nextSteps(kind, path, file)].join("\n"));
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
