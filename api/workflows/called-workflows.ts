import { allOf } from "../../crds/resource-store.ts";
import { workflowKind, type WorkflowResource } from "../../crds/workflow.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { isId } from "../../domain/ids.ts";
import { withSteps, type StepNode } from "../../domain/workflow/step-control.ts";
import { flatten } from "../../domain/workflow/step-tree.ts";
import type { ApiContext } from "../context.ts";
import { publicIdOf } from "../resources/identity.ts";
import { restPath } from "./control.ts";

/** The tree with ids in place of names of the workflows that its steps call. @throws InvalidInput that names the step */
export async function withCalledIds<Node extends StepNode<Node>>(
  tree: readonly Node[],
  { owner, namespace }: { readonly owner: string; readonly namespace: string },
  context: ApiContext,
): Promise<readonly Node[]> {
  const ids = new Map<string, string>();
  let own: Promise<readonly WorkflowResource[]> | undefined;
  for (const { node, path } of flatten(tree)) {
    const { workflow: named } = node;
    if (named === undefined || ids.has(named)) continue;
    const found = isId("workflow", named)
      ? await findById(named, owner, context)
      : withName(await (own ??= workflowsIn(namespace, context)), named);
    const [only, another] = found;
    if (only === undefined || another !== undefined) throw notOne(restPath(path), node.name, named, found.length);
    ids.set(named, publicIdOf(only));
  }
  if (ids.size === 0) return tree;
  const convert = (steps: readonly Node[]): readonly Node[] =>
    steps.map((step) => {
      const id = ids.get(step.workflow ?? "");
      return { ...step, ...withSteps(step, convert), ...(id === undefined ? {} : { workflow: id }) };
    });
  return convert(tree);
}

async function findById(id: string, owner: string, { access, ports }: ApiContext): Promise<readonly WorkflowResource[]> {
  const found = await ports.store.findById(workflowKind, id);
  return found !== undefined && (await access.ownerOf(found)) === owner ? [found] : [];
}

async function workflowsIn(namespace: string, { ports }: ApiContext): Promise<readonly WorkflowResource[]> {
  const found: WorkflowResource[] = [];
  for await (const workflow of allOf(ports.store, workflowKind, { namespace }))
    if (workflow.metadata.deletionTimestamp === undefined) found.push(workflow);
  return found;
}

/** By display name, or by the name of the resource. */
const withName = (workflows: readonly WorkflowResource[], name: string): readonly WorkflowResource[] =>
  workflows.filter(({ metadata, spec }) => metadata.name === name || spec.name === name);

function notOne(field: string, step: string, named: string, count: number): InvalidInput {
  const why = count === 0 ? "the owner has no such workflow" : `${count} workflows of the owner have that name: give the id`;
  const message = `step '${step}': workflow '${named}': ${why}`;
  return new InvalidInput(message, { code: "invalid_step", details: [{ field: `${field}.workflow`, message }] });
}
