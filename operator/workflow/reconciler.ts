import type { SecretReference } from "../../crds/secret-reference.ts";
import { workflowKind, type WorkflowResource } from "../../crds/workflow.ts";
import { Invariant } from "../../domain/errors.ts";
import { adoptSecrets } from "../adopt-secrets.ts";
import { adopt } from "../controller/ownership.ts";
import { parseKey } from "../controller/informer.ts";
import type { EndConnections } from "../end-connections.ts";
import { idOf } from "../identity.ts";
import { defaultExternalPollMs, pollBlockedMs, spread } from "../polling.ts";
import type { OperatorConfig, OperatorPorts } from "../ports.ts";
import { PlanRunner } from "./apply/plan-runner.ts";
import { observe, type WorkflowLookup } from "./observe/observe.ts";
import type { Observed } from "./observe/observed.ts";
import { blockedBy } from "./plan/checks.ts";
import type { PlanInputs } from "./plan/inputs.ts";
import { plan } from "./plan/plan.ts";

/** More rounds than any life cycle needs; beyond that the plan does not converge. */
const maxRounds = 20;
const resumeKeyBytes = 32;

/** Observes, plans and applies until nothing is left to do or a call of a component is running. */
export function workflowReconciler(
  config: OperatorConfig,
  ports: OperatorPorts,
  lookup: WorkflowLookup,
  endConnections: EndConnections = () => Promise.resolve(),
) {
  const runner = new PlanRunner(ports, endConnections);
  return async (key: string, signal: AbortSignal): Promise<number | undefined> => {
    const { namespace, name } = parseKey(key);
    for (let round = 0; round < maxRounds; round++) {
      const found = await ports.store.find(workflowKind, namespace, name);
      if (found === undefined) return undefined;
      const id = await idOf(ports, workflowKind, found, "workflow");
      const isEnding = found.metadata.deletionTimestamp !== undefined;
      const workflow = isEnding ? found : await adopt(ports.store, workflowKind, found, id);
      const observed = runner.withMemory(await observe(workflow, id, ports, lookup));
      if (round === 0 && observed.owner !== undefined) await adoptSecrets(workflowKind, workflow, secretsOf(workflow), ports);
      const inputs = planInputs(config, ports);
      const steps = plan(observed, inputs);
      if (steps.length === 0) {
        if (blockedBy(observed) === undefined) runner.forgetResults(observed);
        return pollAfterMs(observed, config, ports);
      }
      const waitMs = await runner.run(steps, observed, inputs, signal);
      if (waitMs !== undefined) return waitMs;
    }
    throw new Invariant(`workflow ${key} is not settled after ${maxRounds} plans`);
  };
}

function planInputs({ ingressUrl }: OperatorConfig, ports: OperatorPorts): PlanInputs {
  return {
    deployment: ports.newId("deployment"),
    endpointKey: ports.randomKey(),
    resumeKey: Buffer.from(ports.randomBytes(resumeKeyBytes)).toString("base64url"),
    ingressUrl,
    now: ports.clock.now(),
  };
}

/** Delay until the next poll of things that are not watched; undefined for a workflow without any. */
function pollAfterMs(
  observed: Observed,
  { externalPollMs = defaultExternalPollMs }: OperatorConfig,
  ports: OperatorPorts,
): number | undefined {
  const { workflow, versions, deployed, hasForeignSource } = observed;
  if (workflow.metadata.deletionTimestamp !== undefined) return undefined;
  const blocked = blockedBy(observed);
  if (blocked?.poll === true) return pollBlockedMs(workflow.status, hasUrl(workflow), ports);
  const running = (versions.get(deployed?.id ?? "")?.steps ?? []).flatMap(({ secrets }) => Object.values(secrets));
  const isLive = (prop: (typeof running)[number]): boolean =>
    // Accounts of the spec are watched; those of another version are not.
    "account" in prop ? blocked !== undefined : prop.reference.secretKeyRef !== undefined;
  const mustPoll = hasForeignSource || running.some(isLive) || secretsOf(workflow).some(({ secretKeyRef }) => secretKeyRef !== undefined);
  return mustPoll ? spread(externalPollMs, ports) : undefined;
}

const secretsOf = ({ spec }: WorkflowResource): readonly SecretReference[] => spec.steps.flatMap(({ secrets }) => Object.values(secrets));
const hasUrl = ({ spec }: WorkflowResource): boolean => spec.steps.some(({ url }) => url !== undefined);
