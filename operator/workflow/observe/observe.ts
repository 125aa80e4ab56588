import { holderOf, type SecretHolder } from "../../../crds/secret-values.ts";
import { triggerSubscriptionName } from "../../../crds/auto-subscription.ts";
import { componentKind } from "../../../crds/component.ts";
import { subscriptionKind, type SubscriptionResource } from "../../../crds/subscription.ts";
import { workflowKind, type WorkflowResource, type WorkflowStep } from "../../../crds/workflow.ts";
import { stepsOf } from "../../../crds/workflow-steps.ts";
import type { WorkflowDeployment } from "../../../domain/workflow/deployment.ts";
import { filesAddress } from "../../../domain/files/file-url.ts";
import type { FlatStep } from "../../../domain/workflow/step-tree.ts";
import { treeProblems } from "../../../domain/workflow/step-tree-problems.ts";
import { isId } from "../../../domain/ids.ts";
import { stepId } from "../../../domain/workflow/step-id.ts";
import { buildFor } from "../../configured/additional-props.ts";
import type { SecretProps } from "../../versions.ts";
import { haveChanged, secretPropsOf, trySecretProps, type SecretPropValues } from "../../configured/secret-props.ts";
import { parseKey } from "../../controller/informer.ts";
import { observePlacement } from "../../deployable/deployable.ts";
import type { OperatorPorts } from "../../ports.ts";
import { sourceConnectedBy, type MadeLookup } from "./made.ts";
import type { VariableEntries } from "../../variable/entries.ts";
import { versionsOf, type WorkflowVersion } from "../../versions.ts";
import { observeTriggers } from "./observe-triggers.ts";
import type { Observed, ObservedStep, RunningSecrets } from "./observed.ts";
import { observeComponent, type ComponentLookup } from "./step-component.ts";

export interface WorkflowLookup {
  readonly components: ComponentLookup;
  readonly made: MadeLookup;
  /** What runners know of variables. */
  readonly variables?: Pick<VariableEntries, "write">;
}

/** Reads everything a plan needs. */
export async function observe(workflow: WorkflowResource, id: string, ports: OperatorPorts, lookup: WorkflowLookup): Promise<Observed> {
  const { metadata, status, spec } = workflow;
  // Nothing is written before its endpoint key is recorded.
  const [placement, endpoint, emailEndpoint, filesEndpoint, route, versions] = await Promise.all([
    observePlacement(workflow, id, ports.workflowDeployments, ports),
    status.endpointKey === undefined ? undefined : ports.endpoints.get(status.endpointKey),
    status.emailKey === undefined ? undefined : ports.endpoints.get(status.emailKey),
    status.endpointKey === undefined ? undefined : ports.endpoints.get(filesAddress(id)),
    ports.routes.get(id),
    status.endpointKey === undefined ? new Map<string, WorkflowVersion>() : readVersions(id, ports),
  ]);
  const { owner, deployed } = placement;
  const base = { ...placement, workflow, id, endpoint, emailEndpoint, filesEndpoint, route, versions };
  const components = await madeComponents(workflow, ports, lookup.made);
  if (metadata.deletionTimestamp !== undefined) return { ...base, ...nothing, components };
  const running = deployed === undefined ? undefined : versions.get(deployed.id);
  const triggers = await observeTriggers(workflow, owner, running?.triggers.sources ?? [], ports);
  const sources = [...triggers.triggers.flatMap(({ source }) => source ?? []), ...triggers.presentSources];
  return {
    ...base,
    // A tree with mistakes has no flat list: names may occur twice.
    steps: await Promise.all(
      (treeProblems(spec.steps).length > 0 ? [] : stepsOf(spec)).map((step) =>
        observeStep(workflow, step, { id, owner }, ports, lookup.components),
      ),
    ),
    ...triggers,
    ...(await runningSecrets(holderOf(workflowKind, workflow), deployed, running, ports)),
    components,
    subscriptions: await madeSubscriptions(workflow, sources, ports, lookup.made),
    connectedSources: await connectedSources(workflow, ports, lookup.made),
  };
}

/** What the plan of a deletion does not need. */
const nothing = {
  steps: [],
  triggers: [],
  hasForeignSource: false,
  secrets: {},
  secretsChanged: false,
  presentSources: new Set<string>(),
  connectedSources: new Set<string>(),
  subscriptions: new Map<string, SubscriptionResource>(),
} as const satisfies Partial<Observed>;

async function readVersions(id: string, { workflowVersions }: OperatorPorts): Promise<ReadonlyMap<string, WorkflowVersion>> {
  const listed = await workflowVersions.list(versionsOf(id));
  return new Map([...listed.values()].map((version) => [version.deployment, version]));
}

async function observeStep(
  workflow: WorkflowResource,
  { node: step, control, readable, expressions }: FlatStep<WorkflowStep>,
  { id: workflowId, owner }: { readonly id: string; readonly owner: string | undefined },
  ports: OperatorPorts,
  lookup: ComponentLookup,
): Promise<ObservedStep> {
  const { namespace } = workflow.metadata;
  const id = stepId(workflowId, step.name);
  const called = control?.workflow === undefined ? undefined : await calledWorkflow(control.workflow, namespace, owner, ports);
  const found = await observeComponent(workflow, step, owner, ports, lookup);
  const known = workflow.status.steps?.find((each) => each.id === id);
  const configured = {
    spec: { props: step.props, secrets: step.secrets },
    status: { configurableProps: known?.configurableProps, configurableFor: known?.configurableFor },
  };
  const build = buildFor(configured, found.component);
  const secrets =
    build === undefined
      ? undefined
      : await readSecrets(holderOf(workflowKind, workflow), secretPropsOf(configured, build.definition), ports);
  return {
    ...found,
    ...configured,
    step,
    control: control === undefined || called === undefined ? control : { ...control, workflow: called },
    missing: called === undefined ? control?.workflow : undefined,
    readable,
    expressions: expressions ?? step.props,
    id,
    namespace,
    secrets,
    url: step.url,
    isReadOnce: step.code === undefined,
  };
}

/** Public id of a workflow of the owner, by id or by name in the namespace. */
async function calledWorkflow(
  named: string,
  namespace: string,
  owner: string | undefined,
  { store, owners }: OperatorPorts,
): Promise<string | undefined> {
  const found = isId("workflow", named) ? await store.findById(workflowKind, named) : await store.find(workflowKind, namespace, named);
  if (found?.status.id === undefined || found.metadata.deletionTimestamp !== undefined) return undefined;
  return (await owners.ownerOf(found.metadata.namespace)) === owner ? found.status.id : undefined;
}

async function readSecrets(holder: SecretHolder, props: SecretProps, ports: OperatorPorts): Promise<SecretPropValues | undefined> {
  return Object.keys(props).length === 0 ? undefined : trySecretProps(holder, props, ports);
}

/** The values of the current version's secret props, as they are now, also while the spec is another one. */
async function runningSecrets(
  holder: SecretHolder,
  deployed: WorkflowDeployment | undefined,
  version: WorkflowVersion | undefined,
  ports: OperatorPorts,
): Promise<Pick<Observed, "secrets" | "secretsChanged">> {
  const secrets: Record<string, RunningSecrets[string]> = {};
  let secretsChanged = false;
  for (const step of version?.steps ?? []) {
    const read = await readSecrets(holder, step.secrets, ports);
    const known =
      read === undefined ? { props: {}, values: {} } : "values" in read ? { props: step.secrets, values: read.values } : read.without;
    secrets[step.id] = known?.props ?? "as they are";
    const entry = deployed?.steps.find(({ id }) => id === step.id);
    if (known !== undefined && (await haveChanged(entry, known.values, ports))) secretsChanged = true;
  }
  return { secrets, secretsChanged };
}

/** The cache may not have seen own deletions yet: the store has. */
async function madeComponents(workflow: WorkflowResource, { store }: OperatorPorts, lookup: MadeLookup): Promise<Observed["components"]> {
  const found = await Promise.all(
    [...lookup.components(workflow.metadata.uid)].map((key) => {
      const { namespace, name } = parseKey(key);
      return store.find(componentKind, namespace, name);
    }),
  );
  return found.filter((component) => component !== undefined).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

async function madeSubscriptions(
  { metadata }: WorkflowResource,
  sources: readonly string[],
  { store }: OperatorPorts,
  lookup: MadeLookup,
): Promise<Observed["subscriptions"]> {
  const names = [
    ...[...lookup.subscriptions(metadata.uid)].map((key) => parseKey(key).name),
    ...sources.map((source) => triggerSubscriptionName(metadata.name, source)),
  ];
  const found = await Promise.all([...new Set(names)].map((name) => store.find(subscriptionKind, metadata.namespace, name)));
  return new Map(found.filter((made) => made !== undefined).map((made) => [made.metadata.name, made]));
}

async function connectedSources(
  workflow: WorkflowResource,
  { store }: OperatorPorts,
  lookup: MadeLookup,
): Promise<Observed["connectedSources"]> {
  const { namespace } = workflow.metadata;
  const keys = [...lookup.subscriptionsTo(namespace, workflow.status.id ?? "")];
  const found = await Promise.all(keys.map((key) => store.find(subscriptionKind, namespace, parseKey(key).name)));
  return new Set(found.flatMap((each) => (each === undefined ? [] : (sourceConnectedBy(each, workflow) ?? []))));
}
