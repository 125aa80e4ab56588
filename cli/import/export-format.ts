import { z } from "zod";
import { usageFailure } from "../failure.ts";
import { refused, type ExportFiles } from "./bounds.ts";

const schemaName = "workflow/2022.04";
/** Characters of a workflow.yaml. */
const maxYaml = 128 * 1024;
const maxWorkflows = 200;

const step = z.object({
  namespace: z.string().min(1).max(63),
  runtime: z.string().max(64).optional(),
  uses: z.string().min(1).max(512),
  props: z.record(z.string(), z.unknown()).nullish(),
  disabled: z.boolean().nullish(),
  notes: z.string().nullish(),
});
const workflow = z.object({
  schema: z.literal(schemaName),
  name: z.string().min(1).max(255),
  inactive: z.boolean().nullish(),
  settings: z.record(z.string(), z.unknown()).nullish(),
  triggers: z
    .array(z.object({ id: z.string().min(1).max(64) }))
    .max(100)
    .nullish(),
  steps: z.array(step).max(200).nullish(),
});
export type ExportedStep = z.output<typeof step>;
export type Exported = z.output<typeof workflow>;

/** A workflow of the export, with the files of its folder. */
export interface ExportedWorkflow {
  /** Its folder, `<slug>-p_<id>`. */
  readonly folder: string;
  /** Its id there, if the folder has it. */
  readonly id: string | undefined;
  readonly slug: string;
  readonly definition: Exported;
  /** By path within the folder. */
  readonly files: ExportFiles;
}

/** All workflows of an export, by folder. @throws Failure for an export without any, or with one that cannot be read */
export async function workflowsOf(files: ExportFiles): Promise<readonly ExportedWorkflow[]> {
  const found: ExportedWorkflow[] = [];
  for (const path of [...files.keys()].filter((each) => /(^|\/)workflow\.ya?ml$/.test(each)).toSorted()) {
    if (found.length >= maxWorkflows) throw refused(path, `an export has at most ${maxWorkflows} workflows: import it folder by folder`);
    const folder = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    const name = folder.slice(folder.lastIndexOf("/") + 1);
    const [, slug = name, id] = /^(.*?)-?(p_[A-Za-z0-9]+)$/.exec(name) ?? [];
    found.push({ folder, id, slug: slug === "" ? "workflow" : slug, definition: await read(path, files), files: within(folder, files) });
  }
  if (found.length > 0) return found;
  throw usageFailure(
    "no workflow.yaml is found",
    "name the folder of the project that the service exports, with <slug>-p_<id>/workflow.yaml in it",
  );
}

function within(folder: string, files: ExportFiles): ExportFiles {
  if (folder === "") return files;
  const prefix = `${folder}/`;
  return new Map([...files].filter(([path]) => path.startsWith(prefix)).map(([path, content]) => [path.slice(prefix.length), content]));
}

async function read(path: string, files: ExportFiles): Promise<Exported> {
  const text = (files.get(path) ?? Buffer.alloc(0)).toString("utf8");
  if (text.length > maxYaml) throw refused(path, `it has ${text.length} characters, a workflow.yaml has at most ${maxYaml}`);
  const parsed = workflow.safeParse(await parseYaml(path, text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join(".") ?? "";
  if (field === "schema") throw refused(path, `its schema is not '${schemaName}', the only one that is known`);
  throw refused(path, `${field === "" ? "" : `${field}: `}${issue?.message ?? "it is no workflow"}`);
}

/** Without aliases, by which a short text becomes a huge value. */
async function parseYaml(path: string, text: string): Promise<unknown> {
  const { parseDocument, visit } = await import("yaml");
  try {
    const document = parseDocument(text, { logLevel: "silent" });
    const [error] = document.errors;
    if (error !== undefined) throw refused(path, `it is not YAML: ${error.message.split("\n")[0]}`);
    visit(document, {
      Alias: () => {
        throw refused(path, "it has YAML aliases (*name), which exports do not have");
      },
    });
    return document.toJS() as unknown;
  } catch (error) {
    if (error instanceof RangeError) throw refused(path, "it is nested too deeply");
    throw error;
  }
}
