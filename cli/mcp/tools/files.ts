import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { collectFiles, isFile, isWorkflowFile } from "../../component/files.ts";
import type { Sending } from "../../component/sending.ts";
import { workflowBody } from "../../component/workflow-file.ts";
import { usageFailure } from "../../failure.ts";
import { codeGuard } from "./guard.ts";
import type { ToolContext } from "./tool.ts";

export { isWorkflowFile } from "../../component/files.ts";

type InDirectory = Pick<ToolContext, "directory">;

/** Collects code below the directory only: what is sent comes back to the agent, who may act for others. @throws Failure for other files */
export const sendingOf =
  ({ directory }: InDirectory): Sending =>
  async (entry) => {
    if (!isCodeFile(entry)) throw noComponent(entry);
    const scope = { root: directory, guard: await codeGuard(directory) };
    const { component_files, component_entry } = await collectFiles(resolve(directory, entry), scope);
    return { component_files, component_entry };
  };

/** Builds a component without saving it. */
export const build = async (context: Pick<ToolContext, "directory" | "client">, path: string) =>
  context.client.call("saveComponent", { query: { dry_run: true, exclude: "code" }, body: await sendingOf(context)(path) });

const noComponent = (entry: string) => usageFailure(`${entry} is no component: its name must end in .ts, .mts, .cts, .js, .mjs or .cjs`);

/** The body of a workflow file below the directory, with the code of its steps. @throws Failure for other files */
export async function workflowFileBody({ directory }: InDirectory, file: string): Promise<Readonly<Record<string, unknown>>> {
  if (!isWorkflowFile(file)) throw usageFailure(`${file} is no workflow: its name must end in .yaml or .yml`);
  const path = resolve(directory, file);
  const guard = await codeGuard(directory);
  await guard.checkWorkflow(path, file);
  return workflowBody(await realpath(path), { root: await realpath(directory), guard });
}

/**
 * What a caller names to run or deploy: the path of a file of code in full, or the address, key or id of a component as it is.
 * @throws Failure for a path outside the directory, and for another file
 */
export async function namedComponent({ directory }: InDirectory, text: string): Promise<string> {
  if (isAddress(text)) return text;
  const path = resolve(directory, text);
  (await codeGuard(directory)).checkPath(path, text);
  if (!(await isFile(path))) return text;
  if (isWorkflowFile(text))
    throw usageFailure(`${text} is a workflow, not a component`, "test_workflow takes it as file, deploy deploys it");
  if (!isCodeFile(text)) throw noComponent(text);
  return path;
}

export const isCodeFile = (text: string): boolean => /\.[cm]?[jt]s$/.test(text) && !isAddress(text);
export const isAddress = (text: string): boolean => /^(https?:\/\/|npm:)/.test(text);
