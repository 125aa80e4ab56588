import { afterEach } from "vitest";
import type { Answer, Invocation } from "../../../domain/invocation/invocation.ts";
import { encodePack } from "../../../domain/invocation/invocation.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import type { WorkflowCommit } from "../../../domain/run/commit.ts";
import { defaultPool, deploymentKey, invokeSubject, runSubject, streams } from "../../../domain/subjects.ts";
import { defaultWorkflowSettings, versionName, type StepDeployment, type WorkflowDeployment } from "../../../domain/workflow/deployment.ts";
import { isEndMarker, stepsOf, type CommittedStep } from "../../../domain/workflow/run-commit.ts";
import type { StepControl } from "../../../domain/workflow/step-control.ts";
import { flatten } from "../../../domain/workflow/step-tree.ts";
import { stepId } from "../../../domain/workflow/step-id.ts";
import { workflowEntries } from "../../../platform/jetstream/invocations/moves.ts";
import { createRunFiles } from "../../../platform/jetstream/files/run-files.ts";
import { createRunnerPorts } from "../../../platform/jetstream/invocations/runner-ports.ts";
import { readBatch } from "../../../platform/jetstream/read/read-batch.ts";
import type { CommitStore, Room } from "../../../runner/commit/ports.ts";
import type { ActionProducts, ExecuteRequest, Execution } from "../../../runner/sandbox/port.ts";
import { startRunner, type Runner } from "../../../runner/start.ts";
import type { TestJetStream } from "../jetstream/support.ts";
import { portsBesidePool } from "../runner-beside.ts";

export const noProducts: ActionProducts = { exports: {}, flow: null, sends: [], inputs: null };

/** The execution of a step that returned. @param action what differs from a step that only returns */
export const returned = (result: unknown, action: Partial<ActionProducts> = {}): Execution => ({
  outcome: "returned",
  result: JSON.stringify(result) ?? null,
  emits: [],
  logs: [],
  db: {},
  response: null,
  durationMs: 1,
  cpuMs: 1,
  action: { ...noProducts, ...action },
});

export const threw = (message: string): Execution => ({
  outcome: "threw",
  error: { name: "Error", message },
  emits: [],
  logs: [],
  db: {},
  response: null,
  durationMs: 1,
  cpuMs: 1,
  action: noProducts,
});

/** What a step does in the test; `name` is that of the step. */
export type StepCode = (step: {
  readonly name: string;
  readonly steps: Record<string, Record<string, unknown>>;
  readonly context: Record<string, unknown>;
  readonly request: ExecuteRequest;
}) => Execution | Promise<Execution>;

export const owner = "u_owner";

export function stepOf(workflow: string, name: string, more: Partial<StepDeployment> = {}): StepDeployment {
  const base = { id: stepId(workflow, name), name, bundle: name, needsNode: false, props: {}, secrets: null };
  return { ...base, continueOnError: false, retries: 0, timeoutMs: null, ...more };
}

export function workflowOf(id: string, names: readonly string[], more: Partial<WorkflowDeployment> = {}): WorkflowDeployment {
  return {
    workflow: id,
    owner,
    pool: defaultPool,
    name: id,
    id: `d_${id.slice(2)}1`,
    generation: 1,
    active: true,
    steps: names.map((name) => stepOf(id, name)),
    settings: defaultWorkflowSettings,
    endpoint: `https://hooks.example.com/${id}`,
    resumeKey: "key",
    ...more,
  };
}

const hasRoom = async (): Promise<Room> => ({ release: () => undefined });

/** A step of a test, with those that it controls. */
export interface Node extends StepControl<Node> {
  readonly name: string;
  readonly retries?: number;
}

/** A workflow of steps within steps. */
export const treeOf = (id: string, tree: readonly Node[]): WorkflowDeployment =>
  workflowOf(id, [], {
    steps: flatten(tree).map(({ node, control }) =>
      stepOf(id, node.name, { retries: node.retries ?? 0, ...(control === undefined ? {} : { control }) }),
    ),
  });

/** The attempts that a commit ends, in their order. */
export const endedBy = ({ workflow }: WorkflowCommit): readonly CommittedStep[] => stepsOf(workflow, []).map(({ step }) => step);

/** Runners on real streams, whose user code is a function of the test. */
export function withWorkflows(nats: TestJetStream, reserve: (owner: string, bytes: number) => Promise<Room> = hasRoom) {
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });
  return {
    deploy: async (workflow: WorkflowDeployment): Promise<void> => {
      const entries = workflowEntries(nats.connection);
      await entries.put(deploymentKey(defaultPool, versionName(workflow.workflow, workflow.id)), workflow);
      await entries.put(deploymentKey(defaultPool, workflow.workflow), workflow);
    },
    /** @param change how the runner stores commits */
    start: async (
      name: string,
      code: StepCode,
      answers: Answer[] = [],
      change: (commits: CommitStore) => CommitStore = (commits) => commits,
    ): Promise<Runner> => {
      const config = { pool: defaultPool, runTimeoutMs: 1_000, memoryMb: 64, stateCacheBytes: 2 ** 20, handoverMs: 500 };
      const natsPorts = createRunnerPorts(nats.connection, defaultPool);
      const runner = await startRunner(
        { runner: name, ...config },
        {
          ...natsPorts,
          commits: change(natsPorts.commits),
          files: createRunFiles(nats.connection, reserve),
          ...portsBesidePool(async (request) => code({ name: request.bundle.hash, request, ...parsed(request) })),
          answer: (_subject, answer) => void answers.push(answer),
          log: { info: () => undefined, warn: () => undefined, error: () => undefined },
        },
      );
      ends.push(() => runner.stop(AbortSignal.timeout(500)));
      return runner;
    },
    invoke: async (invocation: Invocation): Promise<void> => {
      const { source } = invocation;
      await nats.connection.publisher.publish(
        invokeSubject(defaultPool, partitionOf(source), source),
        encodePack([JSON.stringify(invocation)]),
      );
    },
    /** All commits of the workflow's runs, in order, without end markers. */
    commits: async (workflow: string): Promise<readonly WorkflowCommit[]> => {
      const filter = `${runSubject(partitionOf(workflow), owner, workflow)}.*`;
      const { messages } = await readBatch(nats.connection, streams.runs, { seq: 1, filter, messages: 1_000, bytes: 2 ** 24 });
      const texts = messages.map((message) => message.string()).filter((text) => !isEndMarker(text));
      return texts.map((text) => JSON.parse(text) as WorkflowCommit);
    },
  };
}

function parsed({ action }: ExecuteRequest) {
  return {
    steps: JSON.parse(action?.steps ?? "{}") as Record<string, Record<string, unknown>>,
    context: JSON.parse(action?.context ?? "{}") as Record<string, unknown>,
  };
}
