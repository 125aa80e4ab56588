import { holderOf } from "../../crds/secret-values.ts";
import { sourceKind, type SourceResource } from "../../crds/source.ts";
import { assertNever } from "../../domain/errors.ts";
import { deploymentKey } from "../../domain/subjects.ts";
import { sealProps } from "../configured/secret-props.ts";
import type { OperatorPorts } from "../ports.ts";
import type { OwnStep } from "./plan/step.ts";

/** Applies a step that only sources have. */
export async function apply(step: OwnStep, source: SourceResource, id: string, ports: OperatorPorts): Promise<void> {
  switch (step.do) {
    case "write-deployment":
      return writeDeployment(step, source, ports);
    case "keep-version":
      return ports.versions.put(step.version.deployment.source, step.version);
    case "forget-version":
      return ports.versions.delete(id);
    default:
      return assertNever(step);
  }
}

async function writeDeployment(
  { deployment, secrets }: Extract<OwnStep, { do: "write-deployment" }>,
  source: SourceResource,
  ports: OperatorPorts,
): Promise<void> {
  const key = deploymentKey(deployment.pool, deployment.source);
  if (secrets === "as they are") return ports.deployments.put(key, deployment);
  const { secretsSeen: _, ...unsealed } = deployment;
  return ports.deployments.put(key, { ...unsealed, ...(await sealProps(deployment.pool, holderOf(sourceKind, source), secrets, ports)) });
}
