import type { Build } from "../../domain/component/definition.ts";
import type { WorkflowCommit } from "../../domain/run/commit.ts";
import type { Endpoint, Route } from "../../domain/source/deployment.ts";
import { buckets, defaultPool, deploymentKey, streams } from "../../domain/subjects.ts";
import { defaultWorkflowSettings, versionName, type StepDeployment, type WorkflowDeployment } from "../../domain/workflow/deployment.ts";
import { isEndMarker } from "../../domain/workflow/run-commit.ts";
import { hasEnded } from "../../domain/workflow/run-state.ts";
import { type StepControl } from "../../domain/workflow/step-control.ts";
import { flatten } from "../../domain/workflow/step-tree.ts";
import { stepId } from "../../domain/workflow/step-id.ts";
import { Bucket } from "../../platform/jetstream/buckets/bucket.ts";
import { workflowEntries } from "../../platform/jetstream/invocations/moves.ts";
import { followFrom } from "../../platform/jetstream/read/follow.ts";
import { createSecrets } from "../../platform/secrets/secrets.ts";
import { RawClient } from "./baseline/raw-http.ts";
import { owner } from "./deploy.ts";
import type { System } from "./system.ts";

type Code = Pick<Build, "bundle" | "needsNode">;

/** A step of a tree. */
interface Node extends StepControl<Node> {
  readonly name: string;
}

/** So many steps in a row. */
export const stepsInARow = (count: number): readonly Node[] => Array.from({ length: count }, (_, index) => ({ name: `step${index}` }));

/**
 * Writes the entries of a workflow whose actions all run this build, as the operator does: `POST /<workflow>` starts a run.
 * @param control of steps that control others @param of the owner
 */
export async function deployWorkflow(
  system: System,
  workflow: string,
  build: Code,
  tree: readonly Node[],
  control: Code = build,
  of = owner,
): Promise<void> {
  const resumeKey = "a key of the bench's own";
  const secrets = await createSecrets(system.keysDirectory);
  const steps = flatten(tree).map((flat): StepDeployment => {
    const { name } = flat.node;
    const { bundle, needsNode } = flat.control === undefined ? build : control;
    const props = flat.value === undefined ? {} : { value: flat.value };
    const own = {
      id: stepId(workflow, name),
      name,
      bundle,
      needsNode,
      props,
      ...(flat.control === undefined ? {} : { control: flat.control }),
    };
    return { ...own, secrets: null, continueOnError: false, retries: 0, timeoutMs: null };
  });
  const deployment: WorkflowDeployment = {
    workflow,
    owner: of,
    pool: defaultPool,
    name: workflow,
    id: `d_${workflow.slice(2)}`,
    generation: 1,
    active: true,
    steps,
    settings: defaultWorkflowSettings,
    endpoint: `http://127.0.0.1:${system.ingressPort}/${workflow}`,
    resumeKey: await secrets.sealForPool(defaultPool, resumeKey),
  };
  const entries = workflowEntries(system.connection);
  await entries.put(deploymentKey(defaultPool, versionName(workflow, deployment.id)), deployment);
  await entries.put(deploymentKey(defaultPool, workflow), deployment);
  const endpoints = new Bucket<Endpoint>(system.connection, buckets.endpoints, (json) => json as Endpoint); // Only written here.
  await endpoints.put(workflow, {
    source: workflow,
    pool: defaultPool,
    owner: of,
    customResponse: false,
    active: true,
    workflow: { hasHttpTrigger: true, resumeKey },
  });
}

/** Makes each event of the source start a run. */
export async function subscribeWorkflow({ connection }: System, source: string, workflow: string): Promise<void> {
  const routes = new Bucket<Route>(connection, buckets.routes, (json) => json as Route); // Only written here.
  const subscription = `sub_${workflow.slice(2)}${source.slice(3)}`;
  await routes.put(subscription, {
    subscription,
    owner,
    emitter: source,
    channel: "",
    listener: { kind: "workflow", id: workflow, pool: defaultPool },
  });
}

/** Follows the commits of workflows and of sources. */
export async function followCommits(
  { connection }: System,
  onCommit: (commit: WorkflowCommit, storedAt: number) => void,
): Promise<{ stop(): Promise<void> }> {
  return followFrom({
    connection,
    stream: streams.runs,
    from: "new",
    onMessage: (message) => {
      const text = message.text();
      if (!isEndMarker(text)) onCommit(JSON.parse(text) as WorkflowCommit, message.storedAt); // Written by a runner.
    },
  });
}

export interface LoadedRuns {
  readonly completed: number;
  readonly elapsedMs: number;
  /** From the request to the commit that ended the run, ms. */
  readonly latencies: readonly number[];
}

type Pace = { readonly inFlight: number } | { readonly perSecond: number };

/** Requests to a workflow, each with one run. A closed loop sends the next one when a run has ended. */
export async function loadRuns(system: System, workflow: string, pace: Pace, durationMs: number): Promise<LoadedRuns> {
  const sentAt = new Map<string, number>();
  const numbers = new Map<string, string>();
  const ended = new Map<string, () => void>();
  const latencies: number[] = [];
  const following = await followCommits(system, (commit) => {
    if (commit.source !== workflow) return;
    const { status, event } = commit.workflow;
    if (event !== undefined) numbers.set(commit.run.id, (JSON.parse(event) as { query: { n: string } }).query.n);
    if (!hasEnded(status)) return;
    const number = numbers.get(commit.run.id) ?? "";
    latencies.push(performance.now() - (sentAt.get(number) ?? Number.NaN));
    ended.get(number)?.();
    ended.delete(number);
  });
  const clients: RawClient[] = [];
  const send = async (number: string): Promise<void> => {
    const client = clients.pop() ?? new RawClient(system.ingressPort);
    const end = new Promise<void>((resolve) => ended.set(number, resolve));
    sentAt.set(number, performance.now());
    const status = await client.post(`/${workflow}?n=${number}`, "{}");
    clients.push(client);
    if (status !== 200) throw new Error(`the endpoint answered ${status}`);
    await end;
  };
  const startedAt = performance.now();
  let sent = 0;
  const isOver = (): boolean => performance.now() - startedAt > durationMs;
  if ("inFlight" in pace) {
    await Promise.all(
      Array.from({ length: pace.inFlight }, async () => {
        while (!isOver()) await send(String(sent++));
      }),
    );
  } else {
    const all: Promise<void>[] = [];
    while (!isOver()) {
      const dueMs = (sent * 1_000) / pace.perSecond;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - (performance.now() - startedAt))));
      all.push(send(String(sent++)));
    }
    await Promise.all(all);
  }
  const elapsedMs = performance.now() - startedAt;
  await following.stop();
  for (const client of clients) client.close();
  return { completed: latencies.length, elapsedMs, latencies };
}
