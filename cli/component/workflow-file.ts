import { dirname, join } from "node:path";
import type { Client } from "../../client/client.ts";
import type { Operations } from "../../client/generated/operations.ts";
import { itemsOf, maxPageItems } from "../../client/pages.ts";
import type { Context } from "../context.ts";
import { Failure, failureOf, usageFailure } from "../failure.ts";
import { objectsOf, recordOf } from "../values.ts";
import { collectFiles, projectOf, type FileScope } from "./files.ts";
import { explained } from "./rejection.ts";

/** Fields of a step that hold code, as of `saveComponent`. */
const codeFields = ["component_code", "component_files", "component_entry", "component_url"] as const;

/** Creates the workflow of a file, or changes the one with its name. A step may name its code as `file: step.ts`. */
export async function deployWorkflow({ client, out, terminal }: Context, file: string, root: string | undefined): Promise<void> {
  const body = await workflowBody(file, root);
  const name = typeof body["name"] === "string" ? body["name"] : "";
  const id = await workflowNamed(client, name);
  const answer = await terminal.progress("Deploying", () =>
    explained(
      () =>
        id === undefined
          ? client.call("createWorkflow", { body: body as Operations["createWorkflow"]["body"] }) // The API checks it.
          : client.call("updateWorkflow", { path: { workflow_id: id }, body: body as Operations["updateWorkflow"]["body"] }), // As above.
    ),
  );
  for (const { message } of answer.warnings ?? []) out.note(`warning: ${message}`);
  const endpoints = answer.data.triggers.flatMap((trigger) =>
    "endpoint_url" in trigger && typeof trigger.endpoint_url === "string" ? [`endpoint ${trigger.endpoint_url}`] : [],
  );
  await out.done(answer, [`workflow ${name} ${id === undefined ? "created" : "changed"} (${answer.data.id})`, ...endpoints].join("\n"));
}

/** Builds the code of each step without saving it. @throws Failure that names the first step with a mistake */
export async function validateWorkflow({ client, out, terminal }: Context, file: string, root: string | undefined): Promise<void> {
  const { steps } = await workflowBody(file, root);
  const coded = [...stepsWithin(steps as readonly unknown[])].filter((step) => codeFields.some((field) => field in step)); // As `workflowBody` made them.
  for (const [index, step] of coded.entries()) {
    const name = typeof step["name"] === "string" ? step["name"] : String(index + 1);
    const body = Object.fromEntries(codeFields.flatMap((field) => (field in step ? [[field, step[field]]] : [])));
    const answer = await terminal.progress(`Building step ${name}`, () =>
      aboutStep(name, () => client.call("saveComponent", { query: { dry_run: true }, body })),
    );
    const warnings = (answer.warnings ?? []).map(({ path, message }) => `${path}: ${message}`);
    await out.record({ step: name, ...answer }, () => [`step ${name} can be built`, ...warnings.map((warning) => `  warning: ${warning}`)]);
  }
  if (coded.length === 0) out.note("no step has code");
}

async function aboutStep<T>(name: string, build: () => Promise<T>): Promise<T> {
  try {
    return await build();
  } catch (error) {
    const { message, hint, exitCode } = failureOf(error);
    throw new Failure(`step ${name}: ${message}`, { exitCode, ...(hint === undefined ? {} : { hint }), cause: error });
  }
}

/** The body of the API, with the code of the files that its steps name, below the root or the project of the workflow. @throws Failure */
export async function workflowBody(file: string, root: string | undefined): Promise<Readonly<Record<string, unknown>>> {
  const [body, ...others] = await objectsOf(file);
  if (body === undefined || others.length > 0) throw usageFailure(`${file} must contain one workflow`);
  if ("apiVersion" in body) throw usageFailure(`${file} contains a custom resource`, "`hw apply -f` takes these");
  const steps = Array.isArray(body["steps"]) ? (body["steps"] as readonly unknown[]) : [];
  const scope = { root: root ?? (await projectOf(file)) };
  return { ...body, steps: await Promise.all(steps.map((step) => withCode(recordOf(step, "a step"), dirname(file), scope))) };
}

/** The steps within it too. */
async function withCode({ file, ...given }: Readonly<Record<string, unknown>>, folder: string, scope: FileScope): Promise<object> {
  const step = await withinLists(given, (inner) => withCode(inner, folder, scope));
  if (typeof file !== "string") return step;
  const { component_files, component_entry } = await collectFiles(join(folder, file), scope);
  return { ...step, component_files, component_entry };
}

/** Converts the steps in the lists of a step: those of its branches and loops, and of the cases and conditions, which have no name. */
async function withinLists(fields: Readonly<Record<string, unknown>>, convert: (step: Fields) => Promise<object>): Promise<object> {
  const entries = Object.entries(fields).map(async ([name, value]): Promise<[string, unknown]> => {
    if (!Array.isArray(value) || name === "component_files") return [name, value];
    const items = (value as readonly unknown[]).map((item) =>
      !isFields(item) ? item : "name" in item ? convert(item) : withinLists(item, convert),
    );
    return [name, await Promise.all(items)];
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** All steps of a workflow, those within others too. */
export function* stepsWithin(steps: readonly unknown[]): Generator<Fields> {
  for (const step of steps) {
    if (!isFields(step)) continue;
    if ("name" in step) yield step;
    for (const value of Object.values(step)) if (Array.isArray(value)) yield* stepsWithin(value);
  }
}

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

async function workflowNamed(client: Client, name: string): Promise<string | undefined> {
  const pages = itemsOf((after) =>
    client.call("listMyWorkflows", { query: { limit: maxPageItems, ...(after === undefined ? {} : { after }) } }),
  );
  for await (const workflow of pages) if (workflow.name === name) return workflow.id;
  return undefined;
}
