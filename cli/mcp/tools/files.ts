import { realpath } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { collectFiles, isFile, isWorkflowFile } from "../../component/files.ts";
import type { Sending } from "../../component/sending.ts";
import { workflowBody } from "../../component/workflow-file.ts";
import { notFound, usageFailure } from "../../failure.ts";
import type { ToolContext } from "./tool.ts";

export { isWorkflowFile } from "../../component/files.ts";

/** Collects code below the directory only: what is sent comes back to the agent, who may act for others. @throws Failure for other files */
export const sendingOf =
  ({ directory }: Pick<ToolContext, "directory">): Sending =>
  async (entry) => {
    if (!isCodeFile(entry)) throw usageFailure(`${entry} is no component: its name must end in .ts, .mts, .cts, .js, .mjs or .cjs`);
    const { component_files, component_entry } = await collectFiles(resolve(directory, entry), { root: directory });
    return { component_files, component_entry };
  };

/** The body of a workflow file below the directory, with the code of its steps. @throws Failure for other files */
export async function workflowFileBody(
  { directory }: Pick<ToolContext, "directory">,
  file: string,
): Promise<Readonly<Record<string, unknown>>> {
  if (!isWorkflowFile(file)) throw usageFailure(`${file} is no workflow: its name must end in .yaml or .yml`);
  const path = resolve(directory, file);
  const [root, real] = [await realpath(directory), await realpath(path).catch(() => undefined)];
  if (real === undefined) throw notFound(`there is no file ${file}`);
  const below = relative(root, real);
  if (below.split(sep)[0] === ".." || isAbsolute(below)) throw usageFailure(`${file} is outside ${root}`, "use a file below it");
  return workflowBody(real, root);
}

/** What a caller names to deploy: the path of a file in full, or the address, key or id of a component as it is. */
export async function namedComponent({ directory }: Pick<ToolContext, "directory">, text: string): Promise<string> {
  const path = resolve(directory, text);
  return (await isFile(path)) ? path : text;
}

export const isCodeFile = (text: string): boolean => /\.[cm]?[jt]s$/.test(text) && !isAddress(text);
export const isAddress = (text: string): boolean => /^(https?:\/\/|npm:)/.test(text);
