import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Definition, Subcommand } from "../command.ts";
import type { OfflineContext } from "../context.ts";
import { Failure, usageFailure } from "../failure.ts";
import type { Given } from "../given.ts";
import { noAnswers, readAnswers } from "../import/answers.ts";
import { askTriggers } from "../import/ask-triggers.ts";
import { convert } from "../import/convert.ts";
import { convertHosted } from "../import/convert-hosted.ts";
import { workflowsOf } from "../import/export-format.ts";
import { readHosted } from "../import/hosted-api.ts";
import { resourceNames } from "../import/names.ts";
import { readExport } from "../import/read-folder.ts";
import { reportOf, type Imported } from "../import/report.ts";
import { toYaml } from "../output/yaml.ts";

const defaultApi = "https://api.pipedream.com/v1";

const pipedream: Subcommand = {
  name: "pipedream",
  summary: "make manifests of exported workflows, or of the sources, webhooks and subscriptions of an account",
  description:
    "Writes a manifest for each workflow, to deploy with `hw apply`, and report.md: what runs as it is, and what needs a hand. " +
    "Workflows that cannot run yet are switched off. The export does not say when timers tick, which source triggers a workflow, " +
    "and which accounts are used: it asks, or reads the answers file (docs/migrating.md). " +
    "With --from-api it reads sources, webhooks and subscriptions by the API key in PIPEDREAM_API_KEY, and changes nothing there.",
  arguments: [{ name: "[export]", description: "folder or ZIP archive with <slug>-p_<id>/workflow.yaml", completes: "file" }],
  options: [
    { flags: "--answers <file>", description: "YAML file with triggers, accounts and components" },
    { flags: "--from-api", description: "read sources, webhooks and subscriptions from the service" },
    { flags: "--api <url>", description: `address of its API; by default ${defaultApi}` },
    { flags: "--from-org <id>", description: "with --from-api: those of an organization of the service" },
    { flags: "--to <folder>", description: "folder to write to; by default imported" },
    { flags: "--dry-run", description: "print report and manifests, and write nothing" },
    { flags: "-y, --yes", description: "ask nothing, and write over files of an earlier import" },
  ],
  examples: [
    { command: "hw import pipedream project.zip --dry-run", does: "Show what would be written.", isInert: true },
    { command: "hw import pipedream --from-api", does: "Write manifests of sources, webhooks and subscriptions.", isInert: true },
    { command: "hw import pipedream my-project --answers answers.yaml --yes", does: "Write manifests to imported/.", isInert: true },
  ],
  operations: [],
  isOffline: true,
  run: async (context, given) => {
    const imported = await importAll(context, given);
    if (given.flag("dry-run")) return show(imported, context);
    await write(imported, given.text("to") ?? "imported", context, given.flag("yes"));
  },
};

/** Not an option: other users of the machine could read it. */
function keyOf(env: NodeJS.ProcessEnv): string {
  const { PIPEDREAM_API_KEY: key = "" } = env;
  if (key !== "") return key;
  throw usageFailure("PIPEDREAM_API_KEY is not set", "set it to an API key of the service: only --from-api needs it, and only to read");
}

async function importAll({ terminal, env }: OfflineContext, given: Given): Promise<readonly Imported[]> {
  const [file, folder] = [given.text("answers"), given.text("export")];
  const known = file === undefined ? noAnswers : await readAnswers(file);
  if (given.flag("from-api")) {
    if (folder !== undefined) throw usageFailure(`'${folder}' is given beside --from-api`, "import an export, or what the API has");
    const access = { api: given.text("api") ?? defaultApi, key: keyOf(env), org: given.text("from-org") };
    return convertHosted(await terminal.progress(`Reading ${access.api}`, () => readHosted(access)), known);
  }
  if (folder === undefined)
    throw usageFailure("the export is missing", "give its folder or ZIP archive, or --from-api for sources, webhooks and subscriptions");
  const workflows = await workflowsOf(await readExport(folder));
  const mayAsk = terminal.isInteractive && !given.flag("dry-run") && !given.flag("yes");
  const answers = mayAsk ? await askTriggers(workflows, known) : known;
  const names = resourceNames(workflows.map(({ slug }) => slug));
  return workflows.map((workflow, index) => {
    const name = names[index] ?? workflow.slug;
    return { name, origin: workflow.folder, file: `${name}.yaml`, ...convert(workflow, name, answers) };
  });
}

async function show(imported: readonly Imported[], { out }: OfflineContext): Promise<void> {
  const described = imported.map(({ name, manifest, asIs, tasks }) => ({ name, manifest, as_is: asIs, tasks: tasks.map(taskOf) }));
  if (out.format !== "table" && out.format !== "wide") return out.document({ data: described }, () => []);
  await out.exact(`${reportOf(imported)}\n`);
  for (const { manifest } of imported) await out.exact(`---\n${await toYaml(manifest)}`);
}

const taskOf = ({ what, why, how, isRequired }: Imported["tasks"][number]) => ({ what, why, how, required: isRequired });

async function write(
  imported: readonly Imported[],
  folder: string,
  { out, terminal }: OfflineContext,
  isConfirmed: boolean,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  // An existing file may have changes by hand.
  const writeNew = async (file: string, text: string): Promise<void> => {
    const path = join(folder, file);
    try {
      await writeFile(path, text, { flag: "wx" });
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST"))
        throw new Failure(`${path} cannot be written: ${String(error)}`);
      await terminal.confirm(`Write over ${path}?`, isConfirmed);
      await writeFile(path, text);
    }
  };
  for (const [file, parts] of Map.groupBy(imported, (each) => each.file)) {
    const texts = await Promise.all(parts.map(({ manifest }) => toYaml(manifest)));
    await writeNew(file, texts.join("---\n"));
  }
  await writeNew("report.md", reportOf(imported));
  for (const { name, file, tasks } of imported) {
    const required = tasks.filter(({ isRequired }) => isRequired).length;
    const left = required === 0 ? "runs as it is" : `${required} thing${required === 1 ? "" : "s"} to do by hand`;
    await out.record({ name, file: join(folder, file), required }, () => [`${join(folder, file)}: ${left}`]);
  }
  out.note(`${join(folder, "report.md")} says what needs a hand; deploy with hw apply -f ${join(folder, imported[0]?.file ?? "")}`);
}

export const command: Definition = {
  description: "Makes manifests of workflows of other services.",
  examples: [],
  operations: [],
  subcommands: [pipedream],
};
