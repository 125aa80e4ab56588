import type { SecretReference } from "../../crds/secret-reference.ts";
import { workflowHealthOf } from "../../crds/workflow-health.ts";
import { workflowKind, type WorkflowResource, type WorkflowSpec, type WorkflowStatus } from "../../crds/workflow.ts";
import { stepsOf } from "../../crds/workflow-steps.ts";
import { LimitExceeded } from "../../domain/errors.ts";
import type { Deployable, Memory } from "../deployable/deployable.ts";
import { deployableReconciler, planInputs } from "../deployable/reconciler.ts";
import type { EndConnections } from "../end-connections.ts";
import type { OperatorConfig, OperatorPorts } from "../ports.ts";
import { apply } from "./apply.ts";
import { accountsOfWorkflow } from "./caches.ts";
import { observe, type WorkflowLookup } from "./observe/observe.ts";
import type { Observed, ObservedStep } from "./observe/observed.ts";
import { blockedBy } from "./plan/checks.ts";
import { plan } from "./plan/plan.ts";
import { reportBlocked } from "./plan/plan-running.ts";
import type { OwnStep, PlanInputs } from "./plan/step.ts";

const resumeKeyBytes = 32;

export function workflowReconciler(config: OperatorConfig, ports: OperatorPorts, lookup: WorkflowLookup, endConnections?: EndConnections) {
  return deployableReconciler(workflowsOf(config, ports, lookup), config, ports, endConnections);
}

/** A workflow: a component for each step, and versions that suspended runs continue. */
function workflowsOf(
  config: OperatorConfig,
  ports: OperatorPorts,
  lookup: WorkflowLookup,
): Deployable<WorkflowSpec, WorkflowStatus, Observed, OwnStep> {
  const inputsFor = (): PlanInputs => ({
    ...planInputs(config, ports),
    emailKey: ports.randomKey(),
    emailDomain: config.emailDomain,
    resumeKey: Buffer.from(ports.randomBytes(resumeKeyBytes)).toString("base64url"),
  });
  return {
    kind: workflowKind,
    idKind: "workflow",
    entries: ports.workflowDeployments,
    calledComponent: "a step's component",
    references: secretsOf,
    accountsOf: accountsOfWorkflow,
    observe: async (workflow, id) => ({
      ...(await observe(workflow, id, ports, lookup)),
      receivesEmails: config.emailDomain !== undefined,
    }),
    remember: (observed, memory) => ({
      ...observed,
      tooLarge: memory.failure?.message,
      steps: observed.steps.map((step) => withReload(step, memory)),
    }),
    uses: ({ steps }) => steps,
    blockedBy,
    plan: (observed) => plan(observed, inputsFor()),
    apply: (step, workflow, id) => apply(step, workflow, id, ports, lookup.variables),
    reportBlocked: (observed, blocked) => reportBlocked(observed, blocked, config),
    healthOf: workflowHealthOf,
    isLive,
    readsUrl: ({ spec }) => stepsOf(spec).some(({ node }) => node.url !== undefined),
    updateOf: ({ workflow, movesTo = "" }) => `${workflow.metadata.generation} ${movesTo}`,
    failsUpdate: (step, error) => step === "write-deployment" && error instanceof LimitExceeded,
  };
}

/** Props that were returned count as known: they are stored with the version. */
function withReload(step: ObservedStep, memory: Memory): ObservedStep {
  const reloaded = memory.reloaded(step.id);
  if (reloaded === undefined || "blocked" in reloaded) return { ...step, reloaded };
  return { ...step, reloaded, status: { configurableProps: reloaded.props, configurableFor: reloaded.digest } };
}

function isLive(observed: Observed): boolean {
  const { workflow, versions, deployed, hasForeignSource } = observed;
  const running = (versions.get(deployed?.id ?? "")?.steps ?? []).flatMap(({ secrets }) => Object.values(secrets));
  const isLiveProp = (prop: (typeof running)[number]): boolean =>
    // Accounts of the spec are watched; those of another version are not.
    "account" in prop ? blockedBy(observed) !== undefined : prop.reference.secretKeyRef !== undefined;
  return hasForeignSource || running.some(isLiveProp) || secretsOf(workflow).some(({ secretKeyRef }) => secretKeyRef !== undefined);
}

const secretsOf = ({ spec }: WorkflowResource): readonly SecretReference[] =>
  stepsOf(spec).flatMap(({ node }) => Object.values(node.secrets));
