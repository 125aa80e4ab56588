import type { Commit, SourceState } from "../../domain/run/commit.ts";
import type { Deployment } from "../../domain/source/deployment.ts";
import { Unavailable } from "../../domain/errors.ts";
import { hasProcessed } from "../../domain/event/processed-events.ts";
import { hopLimitError, isTooFar } from "../../domain/invocation/hops.ts";
import { disabledError, isDisabled } from "../../domain/run/kills.ts";
import type { Answer, Invocation, InvocationNumber, RunError, RunSummary, TimerEvent } from "../../domain/invocation/invocation.ts";
import { dueAtOf, mostSkippedTold } from "../../domain/schedule/ticks.ts";
import { isAnswered, type QueuePosition } from "../../domain/invocation/watermark.ts";
import { appendFitting } from "../commit/append.ts";
import { composeCommit, type Ran } from "../commit/compose.ts";
import type { History } from "../commit/source-commits.ts";
import { linkHasRun, skippedLinks } from "../commit/timer-chain.ts";
import { withReadableStacks } from "./map-stacks.ts";
import type { RunnerConfig, RunnerPorts } from "../ports.ts";
import type { ExecuteRequest, Execution, Sandbox } from "../sandbox/port.ts";
import { RunTrace, traceWait } from "./run-trace.ts";

/** One invocation as it came out of the stream. */
export interface Received {
  readonly invocation: Invocation;
  readonly position: QueuePosition;
  /** Epoch ms at which the stream stored it. */
  readonly storedAt: number;
  readonly skippedTicks: number;
  /** Epoch ms at which the last of those were due; absent: none were skipped. */
  readonly skippedDue?: readonly number[];
  /** How often it has failed; absent: never. */
  readonly failures?: number;
  /** Its last failure, when it is given up: this error is committed in place of a run. */
  readonly failure?: Error;
  /** Its run before its turn, if there was one. */
  readonly speculative?: Promise<SpeculativeRun | undefined> | undefined;
}

/** A run before its turn, and the db that it started from. */
export interface SpeculativeRun {
  readonly ran: Ran;
  readonly db: SourceState["db"];
}

/** `answered`: committed now or before. `dropped`: there is nothing to run any more. */
export type RunOutcome = "answered" | "dropped";

/** After this many refusals in a row two runners are fighting over a source; the stream gives the invocation back later. */
const refusalLimit = 5;

/**
 * Invocation in, commit out. Run, then commit with the expected sequence; a refused commit means that somebody else extended
 * the history: load it again and start over, unless the invocation is answered by now.
 *
 * @throws Unavailable when the invocation must be tried again later.
 */
export async function answerInvocation(
  received: Received,
  history: History,
  deployment: Deployment,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<RunOutcome> {
  const { invocation } = received;
  if (!wanted(invocation, deployment)) return "dropped";
  let follows: string | undefined;
  for (let refusals = 0; refusals < refusalLimit; refusals++) {
    if (hasRun(received, history)) return "answered";
    if (invocation.trigger === "timer" && isDisabled(history.state.kills, deployment.id)) return "dropped";
    follows ??= traceWait(received, ports);
    const commit = await runAndCommit(received, history, deployment, config, ports, follows);
    if (commit !== undefined) {
      tell(invocation, commit, ports);
      ports.log.info(lineOf(commit), "run");
      return "answered";
    }
    ports.sandbox.evict(deployment.source); // Its module state belongs to a history that did not happen.
    await history.load();
  }
  throw new Unavailable(
    `source ${deployment.source}: ${refusalLimit} commits in a row were refused because another runner extends its history`,
  );
}

/** @returns what was committed; undefined when it was refused */
async function runAndCommit(
  received: Received,
  history: History,
  deployment: Deployment,
  config: RunnerConfig,
  ports: RunnerPorts,
  follows: string | undefined,
): Promise<Commit | undefined> {
  const trace = ports.traces === undefined ? undefined : new RunTrace(ports.traces, received.invocation, follows);
  let commit: Commit | undefined;
  try {
    const speculative = received.speculative === undefined ? undefined : await received.speculative;
    const isValid = speculative !== undefined && isStillValid(speculative, deployment.id, history.state);
    const executed = isValid ? speculative.ran : await execute(received, history, deployment, config, ports);
    const traceparent = trace === undefined ? follows : trace.commits();
    const ran = traceparent === undefined ? executed : { ...executed, traceparent };
    const compose = (what: Ran): Commit => composeCommit(what, history.state, ports.clock.now(), ports.randomId);
    commit = await appendFitting(history, compose(ran), (error) => compose({ ...ran, execution: refusal(error) }));
    return commit;
  } finally {
    trace?.end(commit);
  }
}

/** A run that begins now would start from the same code and db. */
function isStillValid({ ran, db }: SpeculativeRun, deployment: string, state: SourceState): boolean {
  return ran.deployment.id === deployment && JSON.stringify(db) === JSON.stringify(state.db);
}

/** Hooks run whatever the state of the source; everything else only while it is active. */
function wanted(invocation: Invocation, deployment: Deployment): boolean {
  return deployment.active || invocation.trigger === "hook";
}

function hasRun(received: Received, history: History): boolean {
  const { invocation } = received;
  const { watermarks, heard } = history.state;
  return (
    isAnswered(watermarks, received) ||
    hasProcessed(heard, invocation.delivery) ||
    hookHasRun(invocation, history) ||
    linkHasRun(invocation, history.state)
  );
}

/** The operator may ask twice for one run of a hook when it was killed in between. */
function hookHasRun(invocation: Invocation, history: History): boolean {
  return invocation.hook !== undefined && history.state.hooks[invocation.hook]?.run === invocation.run;
}

/** Runs it, whatever becomes of it. */
export async function execute(
  received: Received,
  history: History,
  deployment: Deployment,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<Ran> {
  const { invocation, position } = received;
  const startedAt = ports.clock.now();
  const onResponse = (response: Extract<Answer, { kind: "response" }>["response"]) => {
    if (invocation.answerTo !== undefined) ports.answer(invocation.answerTo, { kind: "response", response });
  };
  const runId = invocation.run ?? runIdOf(invocation.movedFrom ?? position);
  if (received.failure !== undefined) {
    // Whatever could fail again is left out, and what secrets would have to mask.
    const about = { deployment, invocation, position, runId, startedAt, skippedTicks: received.skippedTicks, skippedDue: [] };
    return { ...about, execution: refusal(internalError(received.failure, (received.failures ?? 0) + 1)) };
  }
  const event = JSON.stringify(receivedEvent(invocation, received.storedAt));
  const secrets = deployment.secrets === null ? noSecrets : await openSecrets(deployment.secrets, ports);
  const about = { deployment, invocation, position, runId, startedAt, event, secrets, ...ticksOf(received, history.state, deployment) };
  if (isTooFar(invocation.hops ?? 0)) return { ...about, execution: refusal(hopLimitError(deployment.source, invocation.way)) };
  const { kills } = history.state;
  // A hook is run all the same: there are few, and what it undoes elsewhere should be undone.
  if (isDisabled(kills, deployment.id) && invocation.trigger !== "hook")
    return { ...about, execution: refusal(disabledError(deployment.source)) };
  const path = await ports.bundles.path(deployment.bundle);
  const request = requestOf({ ...received, event, secrets }, history, deployment, config, path);
  // The source's last run cost its process. The next one must not take the warm isolates of other owners along.
  const alone = kills?.deployment === deployment.id && kills.inRow > 0;
  const execution = await ports.sandbox.execute(alone ? { ...request, alone } : request, onResponse);
  const readable = withReadableStacks(execution, deployment.bundle, ports.stacks);
  return { ...about, execution: readable instanceof Promise ? await readable : readable };
}

/** What the commit tells of ticks: when this one was due, and those that were left out before it. */
function ticksOf(
  { invocation, storedAt, skippedTicks, skippedDue = [] }: Received,
  { links }: SourceState,
  deployment: Deployment,
): Pick<Ran, "dueAt" | "skippedTicks" | "skippedDue"> {
  return {
    ...(invocation.trigger === "timer" ? { dueAt: dueAtOf(invocation, storedAt) } : {}),
    skippedTicks: skippedTicks + (invocation.skippedTicks ?? 0),
    skippedDue: [...skippedLinks(invocation, links, deployment), ...skippedDue].slice(-mostSkippedTold),
  };
}

const internalError = ({ message }: Error, failures: number): RunError => ({
  name: "InternalError",
  code: "internal_error",
  message: `Headwater could not run this invocation ${failures} times: ${message}`,
});

/**
 * The event that `run` receives. A tick's timestamp is the time at which it was due: a link of a chain has it in its invocation, else it
 * is the time at which NATS stored it. In epoch seconds, as components expect it.
 */
export function receivedEvent(invocation: Invocation, storedAt: number): unknown {
  if (invocation.trigger !== "timer") return invocation.event ?? null;
  const timer = invocation.event as Omit<TimerEvent, "timestamp">; // Written by the operator from a validated schedule.
  return { timestamp: Math.floor(dueAtOf(invocation, storedAt) / 1000), ...timer };
}

/** A run that is not made, or of which nothing can be kept. */
export function refusal(error: RunError): Execution {
  return {
    outcome: "limited",
    error,
    emits: [],
    logs: [],
    db: {},
    response: null,
    durationMs: 0,
    cpuMs: 0,
  };
}

type Secrets = Readonly<Record<string, unknown>>;

const noSecrets: Secrets = {};

async function openSecrets(sealed: string, ports: Pick<RunnerPorts, "secrets">): Promise<Secrets> {
  return JSON.parse(await ports.secrets.open(sealed)) as Secrets; // Sealed by the operator from a record.
}

function requestOf(
  received: Received & { readonly event: string; readonly secrets: Secrets },
  history: History,
  deployment: Deployment,
  config: RunnerConfig,
  path: string,
): ExecuteRequest {
  return {
    source: deployment.source,
    owner: deployment.owner,
    revision: deployment.id,
    bundle: {
      hash: deployment.bundle,
      path,
      needsNode: deployment.needsNode,
    },
    entry: received.invocation.hook ?? "run",
    event: received.event,
    ...(received.invocation.metadata === undefined ? {} : { metadata: JSON.stringify(received.invocation.metadata) }),
    props: JSON.stringify({ ...deployment.props, ...received.secrets }),
    db: history.state.db,
    endpoint: deployment.endpoint,
    ...(deployment.additionalProps === undefined ? {} : { additionalProps: deployment.additionalProps }),
    environment: { PD_COMPONENT: deployment.source },
    limits: { timeoutMs: config.runTimeoutMs, memoryMb: config.memoryMb },
  };
}

/** Stable over redeliveries, and free: the number of an invocation is unique within the installation. */
function runIdOf(number: InvocationNumber): string {
  return `r_${number.seq.toString(36).padStart(8, "0")}${number.index.toString(36).padStart(2, "0")}`;
}

function tell(invocation: Invocation, commit: Commit, ports: RunnerPorts): void {
  if (invocation.answerTo !== undefined) ports.answer(invocation.answerTo, { kind: "run", run: summaryOf(commit) });
}

/** What happened, without a word of the user's: messages and values of user code belong to its owner alone. */
function lineOf({ source, owner, run, events, error }: Commit): object {
  const { id, trigger, generation, durationMs, cpuMs } = run;
  const outcome = error === null ? "ok" : (error.code ?? "threw");
  return {
    op: "source.run",
    outcome,
    "source.id": source,
    "owner.id": owner,
    "run.id": id,
    trigger,
    generation,
    durationMs,
    cpuMs,
    events: events.length,
  };
}

export function summaryOf(commit: Commit): RunSummary {
  return {
    ...commit.run,
    source: commit.source,
    eventIds: commit.events.map((event) => event.id),
    logs: commit.logs,
    error: commit.error,
  };
}

/** The sandbox, where every execution uses one isolate of this name instead of its source's. */
export function inIsolate(sandbox: Sandbox, isolate: string): Sandbox {
  return { ...sandbox, execute: (request, onResponse) => sandbox.execute({ ...request, source: isolate, revision: isolate }, onResponse) };
}
