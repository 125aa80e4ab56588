import { holderOf, type SecretHolder } from "../../crds/secret-values.ts";
import { workflowKind, type WorkflowResource } from "../../crds/workflow.ts";
import { assertNever } from "../../domain/errors.ts";
import { hasMoved } from "../../domain/source/deployment.ts";
import { deploymentKey } from "../../domain/subjects.ts";
import { versionName, type StepDeployment } from "../../domain/workflow/deployment.ts";
import { endSubscription } from "../auto-subscription/made.ts";
import { sealProps, trySecretProps } from "../configured/secret-props.ts";
import type { OperatorPorts } from "../ports.ts";
import type { VariableEntries } from "../variable/entries.ts";
import { ttlSeconds, versionKey, type SecretProps } from "../versions.ts";
import { subscribe } from "./observe/made.ts";
import type { OwnStep } from "./plan/step.ts";

/** Applies a step that only workflows have. */
export async function apply(
  step: OwnStep,
  workflow: WorkflowResource,
  id: string,
  ports: OperatorPorts,
  variables?: Pick<VariableEntries, "write">,
): Promise<void> {
  const entries = ports.workflowDeployments;
  const holder = holderOf(workflowKind, workflow);
  switch (step.do) {
    case "remove-timer":
      return ports.timers.remove(id, step.prop);
    case "write-route":
      return ports.routes.put(id, step.route);
    case "remove-route":
      return ports.routes.delete(id);
    case "subscribe":
      return subscribe(workflow, step.source, step.now, ports);
    case "end-subscription":
      return endSubscription(`${workflow.metadata.namespace}/${step.name}`, ports);
    case "end-queue":
      return ports.workflowQueues.end(id);
    case "write-deployment":
      // Before the workflow can run in the pool.
      await variables?.write(workflow.metadata.namespace, step.deployment.pool);
      return writeDeployment(step, holder, ports);
    case "copy-version":
      return copyVersion(step, holder, id, ports);
    case "retire-version": {
      const { version, pool, replacedAt } = step;
      const key = deploymentKey(pool, versionName(id, version.deployment));
      const options = { ttlSeconds: ttlSeconds(replacedAt, ports.clock.now()) };
      const entry = await entries.get(key);
      if (entry !== undefined) await entries.put(key, entry, options);
      return ports.workflowVersions.put(versionKey(id, version.deployment), { ...version, replacedAt }, options);
    }
    case "leave-version":
      return entries.delete(deploymentKey(step.pool, versionName(id, step.deployment)));
    case "forget-version":
      return ports.workflowVersions.delete(versionKey(id, step.deployment));
    default:
      return assertNever(step);
  }
}

/** The current entry last: it says that the others are there. */
async function writeDeployment(
  { deployment, secrets, resumeKey, version }: Extract<OwnStep, { do: "write-deployment" }>,
  holder: SecretHolder,
  ports: OperatorPorts,
): Promise<void> {
  const { pool, workflow, id } = deployment;
  const seal = async (step: StepDeployment): Promise<StepDeployment> => {
    const props = secrets[step.id] ?? "as they are";
    return props === "as they are" ? step : withSecrets(step, await sealProps(pool, holder, props, ports));
  };
  const steps = await Promise.all(deployment.steps.map(seal));
  const entry = { ...deployment, steps, resumeKey: await ports.secrets.sealForPool(pool, resumeKey) };
  if (version !== undefined) {
    await ports.workflowVersions.put(versionKey(workflow, id), version);
    await ports.workflowDeployments.put(deploymentKey(pool, versionName(workflow, id)), entry);
  }
  await ports.workflowDeployments.put(deploymentKey(pool, workflow), entry);
}

function withSecrets({ secrets: _, secretsSeen: _seen, ...step }: StepDeployment, sealed: Pick<StepDeployment, "secrets" | "secretsSeen">) {
  return { ...step, ...sealed };
}

/** Secrets that cannot be read any more are left out: runners take those of the current version for steps that it still has. */
async function copyVersion(
  { version, from, to, resumeKey }: Extract<OwnStep, { do: "copy-version" }>,
  holder: SecretHolder,
  id: string,
  ports: OperatorPorts,
): Promise<void> {
  const { deployment, replacedAt } = version;
  const entry = await ports.workflowDeployments.get(deploymentKey(from, versionName(id, deployment)));
  if (entry === undefined || hasMoved(entry)) return;
  const secretsOf = new Map(version.steps.map((step) => [step.id, step.secrets]));
  const seal = async (step: StepDeployment): Promise<StepDeployment> => {
    const props = await readableProps(holder, secretsOf.get(step.id) ?? {}, ports);
    return withSecrets(step, await sealProps(to, holder, props, ports));
  };
  const steps = await Promise.all(entry.steps.map(seal));
  const moved = { ...entry, pool: to, steps, resumeKey: await ports.secrets.sealForPool(to, resumeKey) };
  const options = replacedAt === undefined ? {} : { ttlSeconds: ttlSeconds(replacedAt, ports.clock.now()) };
  await ports.workflowDeployments.put(deploymentKey(to, versionName(id, deployment)), moved, options);
}

async function readableProps(holder: SecretHolder, props: SecretProps, ports: OperatorPorts): Promise<SecretProps> {
  const read = await trySecretProps(holder, props, ports);
  return "values" in read ? props : (read.without?.props ?? {});
}
