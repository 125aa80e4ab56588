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
  const body = await workflowBody(file, { root });
  const id = await workflowNamed(client, nameIn(body));
  const answer = await terminal.progress("Deploying", () => saveWorkflow(client, id, body));
  for (const { message } of answer.warnings ?? []) out.note(`warning: ${message}`);
  const endpoints = answer.data.triggers.flatMap((trigger) =>
    "endpoint_url" in trigger && typeof trigger.endpoint_url === "string" ? [`endpoint ${trigger.endpoint_url}`] : [],
  );
  const done = `workflow ${nameIn(body)} ${id === undefined ? "created" : "changed"} (${answer.data.id})`;
  await out.done(answer, [done, ...endpoints].join("\n"));
}

/** The name that a workflow gives itself; empty: it has none. */
export const nameIn = ({ name }: Fields): string => (typeof name === "string" ? name : "");

/** Creates a workflow, or changes the one with the id. */
export const saveWorkflow = (client: Client, id: string | undefined, body: Fields): Promise<Operations["createWorkflow"]["response"]> =>
  explained(
    () =>
      id === undefined
        ? client.call("createWorkflow", { body: body as Operations["createWorkflow"]["body"] }) // The API checks it.
        : client.call("updateWorkflow", { path: { workflow_id: id }, body: body as Operations["updateWorkflow"]["body"] }), // As above.
  );

/** Builds the code of each step without saving it. @throws Failure that names the first step with a mistake */
export async function validateWorkflow({ client, out, terminal }: Context, file: string, root: string | undefined): Promise<void> {
  const { steps } = await workflowBody(file, { root });
  const coded = codedSteps(steps);
  for (const step of coded) {
    const answer = await terminal.progress(`Building step ${step.name}`, () => buildStep(client, step));
    const warnings = (answer.warnings ?? []).map(({ path, message }) => `${path}: ${message}`);
    const lines = [`step ${step.name} can be built`, ...warnings.map((warning) => `  warning: ${warning}`)];
    await out.record({ step: step.name, ...answer }, () => lines);
  }
  if (coded.length === 0) out.note("no step has code");
}

/** A step with code of its own. */
export interface CodedStep {
  readonly name: string;
  /** The fields that hold its code. */
  readonly code: Fields;
}

/** The steps of a workflow body that have code, those within others too. */
export const codedSteps = (steps: unknown): readonly CodedStep[] =>
  [...stepsWithin(Array.isArray(steps) ? (steps as readonly unknown[]) : [])]
    .filter((step) => codeFields.some((field) => field in step))
    .map((step, index) => ({
      name: typeof step["name"] === "string" ? step["name"] : String(index + 1),
      code: Object.fromEntries(codeFields.flatMap((field) => (field in step ? [[field, step[field]]] : []))),
    }));

/** Builds a step without saving it. @throws Failure that names the step */
export const buildStep = (client: Client, { name, code }: CodedStep): Promise<Operations["saveComponent"]["response"]> =>
  aboutStep(name, () => client.call("saveComponent", { query: { dry_run: true }, body: code }));

async function aboutStep<T>(name: string, build: () => Promise<T>): Promise<T> {
  try {
    return await build();
  } catch (error) {
    const { message, hint, exitCode } = failureOf(error);
    throw new Failure(`step ${name}: ${message}`, { exitCode, ...(hint === undefined ? {} : { hint }), cause: error });
  }
}

/** The body of the API, with the code of the files that its steps name, below the root or the project of the workflow. @throws Failure */
export async function workflowBody(file: string, given: FileScope): Promise<Readonly<Record<string, unknown>>> {
  const [body, ...others] = await objectsOf(file);
  if (body === undefined || others.length > 0) throw usageFailure(`${file} must contain one workflow`);
  if ("apiVersion" in body) throw usageFailure(`${file} contains a custom resource`, "`hw apply -f` takes these");
  const steps = Array.isArray(body["steps"]) ? (body["steps"] as readonly unknown[]) : [];
  const scope = { ...given, root: given.root ?? (await projectOf(file)) };
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
    return [name, await convertList(value as readonly unknown[], convert)];
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** The branches of a `parallel` are lists in a list. */
const convertList = (items: readonly unknown[], convert: (step: Fields) => Promise<object>): Promise<unknown[]> =>
  Promise.all(
    items.map((item) => {
      if (Array.isArray(item)) return convertList(item as readonly unknown[], convert);
      return !isFields(item) ? item : "name" in item ? convert(item) : withinLists(item, convert);
    }),
  );

/** All steps of a workflow, those within others too. */
export function* stepsWithin(steps: readonly unknown[]): Generator<Fields> {
  for (const step of steps) {
    if (Array.isArray(step)) yield* stepsWithin(step as readonly unknown[]);
    if (!isFields(step)) continue;
    if ("name" in step) yield step;
    for (const value of Object.values(step)) if (Array.isArray(value)) yield* stepsWithin(value);
  }
}

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

/** The id of the workflow with this name; undefined: there is none. */
export async function workflowNamed(client: Client, name: string): Promise<string | undefined> {
  const pages = itemsOf((after) =>
    client.call("listMyWorkflows", { query: { limit: maxPageItems, ...(after === undefined ? {} : { after }) } }),
  );
  for await (const workflow of pages) if (workflow.name === name) return workflow.id;
  return undefined;
}
