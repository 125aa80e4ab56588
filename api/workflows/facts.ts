import { sourceKind } from "../../crds/source.ts";
import type { WorkflowResource } from "../../crds/workflow.ts";
import { stepsOf } from "../../crds/workflow-steps.ts";
import { warningsAsAction } from "../../domain/component/kind-warnings.ts";
import type { Warning } from "../../domain/component/warning.ts";
import type { ApiContext } from "../context.ts";
import { publicIdOf } from "../resources/identity.ts";
import { warningsAboutVariables } from "./variables.ts";
import { warningsAboutExpressions } from "./expressions.ts";
import type { WorkflowFacts } from "./response.ts";
import { componentNameOf } from "./steps.ts";

/** Facts about workflows of one namespace, with one query for all components that are not cached. */
export async function factsOfAll(
  namespace: string,
  workflows: readonly WorkflowResource[],
  { components, ports }: ApiContext,
): Promise<WorkflowFacts> {
  const names = workflows.flatMap((workflow) => actionsOf(workflow).flatMap((step) => componentNameOf(step, workflow) ?? []));
  const [owner, known, sources, recent] = await Promise.all([
    ports.owners.ownerOf(namespace),
    components.knownOf(namespace, names),
    referredSources(namespace, workflows, ports),
    ports.outcomes.workflows(
      workflows.map((workflow) => ({ workflow: publicIdOf(workflow), deployment: workflow.status.deployment ?? "" })),
      ports.clock.now(),
    ),
  ]);
  return {
    owner,
    componentOf: (name) => known.get(name),
    sourceOf: (name) => sources.get(name),
    recentOf: (workflow) => recent.get(publicIdOf(workflow)),
  };
}

/** Probable mistakes in the code and the expressions of the steps. */
export async function warningsOf(workflow: WorkflowResource, context: ApiContext): Promise<readonly Warning[]> {
  const { components, registry } = context;
  const { namespace } = workflow.metadata;
  const found = await Promise.all(
    actionsOf(workflow).map(async (step) => {
      const name = componentNameOf(step, workflow);
      const { warnings = [], registryKey, definition } = (name === undefined ? undefined : await components.known(namespace, name)) ?? {};
      const ofKind = definition === undefined ? [] : warningsAsAction(definition);
      const ofRegistry = await registry.warningsOf(registryKey, definition?.version);
      return [...warnings, ...ofKind, ...ofRegistry].map(({ code, message, path }) => ({
        code,
        message: `step '${step.name}': ${message}`,
        path: `steps.${step.name}.${path}`,
      }));
    }),
  );
  return [...found.flat(), ...warningsAboutExpressions(workflow), ...(await warningsAboutVariables(workflow, context))];
}

/** Ids of the sources that triggers name by their resources, as with kubectl. */
async function referredSources(namespace: string, workflows: readonly WorkflowResource[], { store }: ApiContext["ports"]) {
  const names = workflows.flatMap(({ spec }) => spec.triggers?.flatMap(({ sourceRef }) => sourceRef?.name ?? []) ?? []);
  const found = await Promise.all(
    [...new Set(names)].map(async (name) => {
      const source = await store.find(sourceKind, namespace, name);
      return source === undefined ? [] : [[name, publicIdOf(source)] as const];
    }),
  );
  return new Map(found.flat());
}

const actionsOf = ({ spec }: WorkflowResource) => stepsOf(spec).flatMap(({ node, control }) => (control === undefined ? [node] : []));
