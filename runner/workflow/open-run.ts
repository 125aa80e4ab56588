import { Unavailable } from "../../domain/errors.ts";
import { historyOfRun, workflowRunId } from "../../domain/invocation/run-id.ts";
import { hasMoved } from "../../domain/source/deployment.ts";
import { maxStepsTogether } from "../../domain/workflow/run-commit.ts";
import { versionName, type WorkflowDeployment } from "../../domain/workflow/deployment.ts";
import { hasEnded, type WorkflowRunState } from "../../domain/workflow/run-state.ts";
import { CommitHistory } from "../commit/source-commits.ts";
import type { RunnerPorts } from "../ports.ts";
import type { DeploymentCache } from "../run/deployment-cache.ts";
import type { ReceivedInvocation } from "../run/received.ts";
import { traceWait } from "../run/run-trace.ts";
import type { LastOfRun } from "./begin-run.ts";
import { BranchRuns } from "./branch-runs.ts";
import { settle, type Settled } from "./branches.ts";
import { LoopLists } from "./loop-lists.ts";
import type { Attempted } from "./next-commit.ts";
import type { WorkflowContext } from "./execute-step.ts";
import { beginRepetition } from "./repeated-run.ts";
import { StatePages } from "./state-pages.ts";

/** A run of a workflow during one invocation. */
export interface Run {
  readonly received: ReceivedInvocation;
  readonly id: string;
  readonly history: CommitHistory<LastOfRun>;
  /** The current version of the workflow. */
  readonly current: WorkflowDeployment;
  /** A crash may have interrupted an attempt of the step that runs next. */
  mayRepeat: boolean;
  /** Branches of which a crash may have interrupted an attempt that was not repeated yet; undefined: no branch was looked at. */
  interrupted?: Set<number>;
  branches: BranchRuns;
  readonly lists: LoopLists;
  /** Steps of branches that the next commit may end: fewer once so many did not fit into one message. */
  maxTogether: number;
  /** When its last commit was stored, epoch ms; 0: by another runner, or there is none. */
  committedAt: number;
  /** Why a step of a branch could not be executed: the invocation is retried when those of the others have ended. */
  failed?: { readonly error: unknown };
  /** A step of a branch that must not be executed: it ends the run when those of the others have ended. */
  refused?: Attempted;
  /** The caller of a resume URL has its answer. */
  isAnswered: boolean;
  readonly parent: string | undefined;
  /** The layer with the files of the repeated run, once they are copied. */
  formerFiles?: string;
}

export interface RunContext extends WorkflowContext {
  readonly deployments: DeploymentCache;
}

export async function openRun(
  received: ReceivedInvocation,
  current: WorkflowDeployment,
  { places }: RunContext,
  ports: RunnerPorts,
): Promise<Run> {
  const { invocation, position, isNew = false, failures = 0 } = received;
  const id = workflowRunId(invocation, position);
  const pages = new StatePages({ owner: current.owner, workflow: current.workflow, run: id }, ports.files);
  const history = new CommitHistory<LastOfRun>(historyOfRun(current.workflow, id), current.owner, ports.commits, {
    encode: (commit) => pages.encode(commit),
    decode: (text) => pages.decode(text),
    onStored: () => pages.onStored(),
    isKept: isUnfinished,
  });
  // The run of a new invocation has no commits. One that was delivered, moved or armed may repeat another invocation.
  const { delivery, movedFrom, resume, control, chain } = invocation;
  const mayRepeat = !isNew || failures > 0;
  if (mayRepeat || [delivery, movedFrom, resume, control, chain].some((origin) => origin !== undefined)) await history.load();
  else history.beginEmpty();
  const branches = new BranchRuns(history.source, current.owner, places);
  return {
    received,
    id,
    history,
    current,
    mayRepeat,
    branches,
    lists: new LoopLists(),
    maxTogether: maxStepsTogether,
    committedAt: 0,
    isAnswered: false,
    parent: traceWait(received, ports),
  };
}

/** The commit that ends a run is soon replaced by a marker that expires. */
const isUnfinished = ({ state }: LastOfRun): boolean => state !== null && !hasEnded(state.status);

/** Another runner has committed: what this one has under way does not count. */
export async function forget(run: Run, { places }: RunContext): Promise<void> {
  await run.branches.abandon();
  run.branches = new BranchRuns(run.history.source, run.current.owner, places);
  delete run.interrupted;
  run.mayRepeat = true;
  run.committedAt = 0;
  await run.history.load();
}

/** NATS subject of the caller of the trigger, if one may still wait for an answer. */
export const waitingCaller = ({ received }: Run, { answerTo }: WorkflowRunState): string | undefined =>
  received.invocation.answerTo ?? answerTo;

/** The version with which the run began. Undefined: the run was to repeat another one on a version that is forgotten. @throws Unavailable */
export async function versionOf(
  { current, received, history }: Run,
  { deployment }: WorkflowRunState,
  { deployments }: RunContext,
): Promise<WorkflowDeployment | undefined> {
  if (deployment === current.id) return current;
  const name = versionName(current.workflow, deployment);
  const version = await deployments.workflow(name);
  if (version !== undefined && !hasMoved(version)) return version;
  if (received.invocation.repeats?.deployment === deployment && history.last === undefined) return undefined;
  throw new Unavailable(`version ${name} of a workflow is not stored: its run cannot continue`);
}

/** Where the run goes on: a new one that repeats another one not always with the first step. */
export function placeIn({ steps }: WorkflowDeployment, { received, history }: Run, state: WorkflowRunState): Settled {
  const { repeats } = received.invocation;
  return repeats === undefined || history.last !== undefined ? settle(state, steps) : beginRepetition(state, repeats, steps);
}
