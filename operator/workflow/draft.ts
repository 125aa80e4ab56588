import { holderOf, type SecretHolder } from "../../crds/secret-values.ts";
import { componentKind } from "../../crds/component.ts";
import { workflowKind, type WorkflowStep } from "../../crds/workflow.ts";
import { stepsOf } from "../../crds/workflow-steps.ts";
import { withAdditional, type PropDefinition } from "../../domain/component/definition.ts";
import { NotFound } from "../../domain/errors.ts";
import type { Control } from "../../domain/workflow/control.ts";
import type { StepDeployment } from "../../domain/workflow/deployment.ts";
import { stepId } from "../../domain/workflow/step-id.ts";
import { sealValues } from "../configured/seal-values.ts";
import type { OperatorPorts } from "../ports.ts";
import { buildOf } from "../configure/build-of.ts";
import { stepDeployment } from "./plan/desired.ts";

/** Steps of a workflow that are tested before they are saved. The API has authorized and checked them. */
export interface DraftRequest {
  readonly namespace: string;
  /** Name of the Workflow. */
  readonly workflow: string;
  readonly draft: readonly DraftStep[];
}

export interface DraftStep {
  readonly name: string;
  /** Name of the Component. */
  readonly component: string;
  /** Values by prop name, including secret ones. A secret that is absent is that of the stored step of this name, or with this id. */
  readonly props: Readonly<Record<string, unknown>>;
  /** Id of a stored step, `c_…`. */
  readonly id?: string | undefined;
  /** All props for these values, if the component adds some. */
  readonly configurableProps?: readonly PropDefinition[] | undefined;
  readonly continueOnError: boolean;
  readonly retries: number;
  readonly timeoutMs: number | null;
  readonly control?: Control | undefined;
  /** Its code reads variables. */
  readonly readsVariables?: boolean | undefined;
}

type Ports = Pick<OperatorPorts, "store" | "owners" | "secretValues" | "secrets" | "pools" | "clock">;

/** The steps as in a deployment: with secrets and accounts, sealed for the pool that runs the workflow. @throws NotFound, InvalidInput, Unavailable */
export async function sealDraft({ namespace, workflow: name, draft }: DraftRequest, ports: Ports): Promise<readonly StepDeployment[]> {
  const workflow = await ports.store.get(workflowKind, namespace, name);
  const [id, owner] = [workflow.status.id, await ports.owners.ownerOf(namespace)];
  if (owner === undefined || id === undefined) throw new NotFound();
  const pool = workflow.status.pool ?? ports.pools.poolOf(owner);
  const known = stepsOf(workflow.spec).map(({ node }) => node);
  const steps: StepDeployment[] = [];
  for (const step of draft) {
    const stored = known.find((each) => each.name === step.name) ?? known.find((each) => stepId(id, each.name) === step.id);
    steps.push(await sealStep(step, { id: stepId(id, step.name), holder: holderOf(workflowKind, workflow), pool, stored }, ports));
  }
  return steps;
}

interface Placed {
  readonly id: string;
  readonly holder: SecretHolder;
  readonly pool: string;
  readonly stored: WorkflowStep | undefined;
}

async function sealStep(step: DraftStep, { id, holder, pool, stored }: Placed, ports: Ports): Promise<StepDeployment> {
  const { name, props } = step;
  const build = buildOf(await ports.store.get(componentKind, holder.namespace, step.component));
  const definition = withAdditional(build.definition, step.configurableProps);
  const { plain, secrets } = await sealValues(
    { props, stored: stored?.secrets, definition, holder, pool, label: `step '${name}': ` },
    ports,
  );
  return { ...stepDeployment({ ...step, id, props: plain }, build, definition), secrets };
}
