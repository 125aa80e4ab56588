import type { SourceState } from "../../domain/run/commit.ts";
import type { Deployment } from "../../domain/source/deployment.ts";
import { hopLimitError, isOverHopLimit } from "../../domain/invocation/hops.ts";
import { disabledError, isDisabled } from "../../domain/run/kills.ts";
import type { Invocation, TimerEvent } from "../../domain/invocation/invocation.ts";
import type { RunError } from "../../domain/run-products.ts";
import { dueAtOf, maxReportedSkips, tickTimeOf } from "../../domain/schedule/ticks.ts";
import { storesAmong } from "../../domain/component/store-props.ts";
import { runIdOf } from "../../domain/invocation/run-id.ts";
import type { FinishedRun } from "../commit/compose.ts";
import { skippedLinks } from "../commit/timer-chain.ts";
import type { RunnerConfig, RunnerPorts } from "../ports.ts";
import type { ExecuteRequest, Execution, Sandbox } from "../sandbox/port.ts";
import { Caller } from "./caller.ts";
import { mapStacks } from "./map-stacks.ts";
import type { ReceivedInvocation } from "./received.ts";

export type ExecuteConfig = Pick<RunnerConfig, "runTimeoutMs" | "memoryMb">;
export type ExecutePorts = Pick<RunnerPorts, "sandbox" | "bundles" | "stacks" | "secrets" | "answer" | "sendPiece" | "clock" | "randomId">;

/** Runs an invocation in the sandbox, or refuses to. Every result can be committed, including an error. */
export async function execute(
  received: ReceivedInvocation,
  state: SourceState,
  deployment: Deployment,
  config: ExecuteConfig,
  ports: ExecutePorts,
): Promise<FinishedRun> {
  const { invocation, position } = received;
  const runId = invocation.run ?? runIdOf(invocation.movedFrom ?? position);
  const run = { deployment, invocation, position, runId, startedAt: ports.clock.now(), queuedAt: received.storedAt };
  if (received.failure !== undefined) {
    // Without the event, secrets and ticks: reading them could fail again.
    const error = internalError(received.failure, (received.failures ?? 0) + 1);
    return { ...run, skippedTicks: received.skippedTicks, skippedDue: [], execution: notExecuted(error) };
  }
  const event = JSON.stringify(receivedEvent(invocation, received.storedAt));
  const secrets = deployment.secrets === null ? noSecrets : await openSecrets(deployment.secrets, ports);
  const prepared = { ...run, event, secrets, ...ticksOf(received, state, deployment) };
  const refused = received.refusal ?? refusalOf(invocation, state, deployment);
  if (refused !== undefined) return { ...prepared, execution: notExecuted(refused) };
  const path = await ports.bundles.path(deployment.bundle);
  const request = requestOf({ invocation, event, secrets, state, deployment, config, path, runId });
  const caller = invocation.answerTo === undefined ? undefined : new Caller(invocation.answerTo, config.runTimeoutMs, ports);
  const began = performance.now();
  const execution = await ports.sandbox.execute(request, caller?.onResponse).finally(() => caller?.end());
  const startMs = startOf(execution, performance.now() - began);
  const mapped = mapStacks(execution, deployment.bundle, ports.stacks);
  return { ...prepared, ...startMs, execution: mapped instanceof Promise ? await mapped : mapped };
}

/** The time of an execution that was not the run itself, rounded, since each commit contains it. */
const startOf = (execution: Execution, elapsedMs: number): Pick<FinishedRun, "startMs"> =>
  execution.outcome === "crashed" ? {} : { startMs: Math.max(0, Math.round((elapsedMs - execution.durationMs) * 10) / 10) };

/** Why the invocation must not run, if so. A disabled source still runs its hooks, which undo what it has set up in other systems. */
function refusalOf(invocation: Invocation, { kills }: SourceState, deployment: Deployment): RunError | undefined {
  if (isOverHopLimit(invocation.hops ?? 0)) return hopLimitError(deployment.source, invocation.way);
  if (isDisabled(kills, deployment.id) && invocation.trigger !== "hook") return disabledError(deployment.source);
  return undefined;
}

/** When the tick was due, and which ticks were skipped before it. */
function ticksOf(
  { invocation, storedAt, skippedTicks, skippedDue = [] }: ReceivedInvocation,
  { links }: SourceState,
  deployment: Deployment,
): Pick<FinishedRun, "dueAt" | "skippedTicks" | "skippedDue"> {
  return {
    ...(invocation.trigger === "timer" ? { dueAt: dueAtOf(invocation, storedAt) } : {}),
    skippedTicks: skippedTicks + (invocation.skippedTicks ?? 0),
    skippedDue: [...skippedLinks(invocation, links, deployment), ...skippedDue].slice(-maxReportedSkips),
  };
}

export const internalError = ({ message }: Error, failures: number): RunError => ({
  name: "InternalError",
  code: "internal_error",
  message: `Headwater could not run this invocation ${failures} times: ${message}`,
});

/** The argument of `run`. The timestamp of a tick is its time in epoch seconds, as components expect it. */
export function receivedEvent(invocation: Invocation, storedAt: number): unknown {
  if (invocation.trigger !== "timer") return invocation.event ?? null;
  const timer = invocation.event as Omit<TimerEvent, "timestamp">; // Written by the operator from a validated schedule.
  return { timestamp: Math.floor(tickTimeOf(invocation, storedAt) / 1000), ...timer };
}

/** The execution of an invocation that did not run: an error without products. */
export function notExecuted(error: RunError): Execution {
  return { outcome: "limited", error, emits: [], logs: [], db: {}, response: null, durationMs: 0, cpuMs: 0 };
}

type Secrets = Readonly<Record<string, unknown>>;

const noSecrets: Secrets = {};

export async function openSecrets(sealed: string, ports: Pick<RunnerPorts, "secrets">): Promise<Secrets> {
  return JSON.parse(await ports.secrets.open(sealed)) as Secrets; // Sealed by the operator from a record.
}

interface RequestInputs {
  readonly invocation: Invocation;
  readonly event: string;
  readonly secrets: Secrets;
  readonly state: SourceState;
  readonly deployment: Deployment;
  readonly config: ExecuteConfig;
  /** Local file of the bundle. */
  readonly path: string;
  readonly runId: string;
}

function requestOf({ invocation, event, secrets, state, deployment, config, path, runId }: RequestInputs): ExecuteRequest {
  const { source, owner, id, bundle: hash, needsNode, props, endpoint, additionalProps } = deployment;
  // The last run of the source killed its process. The next one must not take warm isolates of other owners with it.
  const alone = state.kills?.deployment === id && state.kills.inRow > 0;
  return {
    source,
    owner,
    revision: id,
    bundle: { hash, path, needsNode },
    entry: invocation.hook ?? "run",
    event,
    ...(invocation.metadata === undefined ? {} : { metadata: JSON.stringify(invocation.metadata) }),
    props: JSON.stringify({ ...props, ...secrets }),
    db: state.db,
    endpoint,
    ...(additionalProps === undefined ? {} : { additionalProps }),
    environment: { PD_COMPONENT: source },
    limits: { timeoutMs: config.runTimeoutMs, memoryMb: config.memoryMb },
    ...storesOf(props, `${source} ${runId}`),
    ...(alone ? { alone } : {}),
  };
}

/** The data stores that configured values name, for a run. Secret values name none. */
export function storesOf(props: Deployment["props"], run: string): Pick<ExecuteRequest, "stores"> {
  const byProp = storesAmong(props);
  return byProp === undefined ? {} : { stores: { byProp, run } };
}

/** A view of the sandbox that runs every execution in one named isolate instead of its source's warm isolate. */
export function inIsolate(sandbox: Sandbox, isolate: string): Sandbox {
  return { ...sandbox, execute: (request, onResponse) => sandbox.execute({ ...request, source: isolate, revision: isolate }, onResponse) };
}
