import type { Commit } from "./commit.ts";
import type { CommittedEvent } from "../event/committed-event.ts";
import { withParsedBody } from "../invocation/http-body.ts";
import type { LogRecord, RunError } from "../run-products.ts";
import type { Trigger } from "../trigger.ts";
import { platformVersion } from "../version.ts";
import type { CommittedStep, WorkflowProgress } from "../workflow/run-commit.ts";

/** An event derived from a run's error or log line. */
export type DerivedEvent = Pick<CommittedEvent, "emitId" | "channel" | "ts" | "payload">;

/** The parts of a failed run's commit that its error event contains. */
type Failed = Pick<Commit, "source" | "owner" | "deployment"> & {
  readonly run: Pick<Commit["run"], "id" | "trigger" | "startedAt" | "durationMs" | "received">;
  /** Of a workflow: `step` failed, unless another one is named. */
  readonly workflow?: {
    readonly step?: Pick<CommittedStep, "id" | "startedAt" | "durationMs">;
    readonly failedStep?: Pick<CommittedStep, "id">;
  };
};

/** What an error event says about where the error happened. */
export interface ErrorContext {
  /** Id of the failed run or delivery. */
  readonly id: string;
  /** Epoch ms. */
  readonly at: number;
  /** Source or workflow. */
  readonly emitter: string;
  readonly owner: string;
  /** Null if unknown. */
  readonly deployment: string | null;
  readonly trigger: Trigger | "delivery";
  /** Id of the failed step of a workflow, `c_…`; absent: the error belongs to no step. */
  readonly step?: string;
}

/**
 * The error event of a failed run. `original_event` is the event that the run received; null when there was none, or one that is too
 * large for the commit or the history.
 */
export function errorEvent({ run, source, deployment, owner, workflow }: Failed, error: RunError): DerivedEvent {
  const ts = endOf({ run, workflow });
  const failed = workflow?.failedStep ?? workflow?.step;
  const step = failed === undefined ? {} : { step: failed.id };
  const context = { id: run.id, at: ts, emitter: source, owner, deployment, trigger: run.trigger, ...step };
  const payload = JSON.stringify(errorData(context, error, originalEvent(run.received)));
  // Named after the run, so that a repeated delivery has the same id: run ids are unique, and a run fails once.
  return { emitId: `${run.id}e`, channel: "$errors", ts, payload };
}

/** Epoch ms at which the run of a source ended, or the step of a workflow. */
export function endOf({ run, workflow }: Ended): number {
  const { startedAt, durationMs } = workflow?.step ?? run;
  return startedAt + Math.round(durationMs);
}

interface Ended {
  readonly run: Pick<Commit["run"], "startedAt" | "durationMs">;
  readonly workflow?: { readonly step?: Pick<CommittedStep, "startedAt" | "durationMs"> } | undefined;
}

/**
 * The data of an error event (specification, "Workflow error event summary"), the same for workflows and sources. Clients read
 * `workflow_id` and `error.msg`; `source_id` and `error.message` are our names for the same.
 */
export function errorData(
  { id, at, emitter, owner, deployment, trigger, step = cellIdOf(emitter) }: ErrorContext,
  error: RunError,
  originalEvent: unknown,
) {
  const ts = new Date(at).toISOString();
  return {
    original_event: originalEvent,
    original_context: {
      id,
      ts,
      workflow_id: emitter,
      source_id: emitter,
      deployment_id: deployment,
      source_type: trigger.toUpperCase(),
      verified: false, // The runner does not check signatures of requests: components do.
      owner_id: owner,
      platform_version: platformVersion,
      trigger,
    },
    error: {
      code: error.code ?? error.name,
      name: error.name,
      msg: error.message,
      message: error.message,
      cellId: step,
      stack: error.stack ?? `${error.name}: ${error.message}`,
      ts,
    },
  };
}

/** Where no step is known, a source or workflow counts as one cell, whose id is its id with the prefix of cells. */
const cellIdOf = (emitter: string): string => emitter.replace(/^[a-z]+_/, "c_");

/** A runner may forge it, so invalid JSON counts as absent. */
function originalEvent(received: string | undefined): unknown {
  try {
    return received === undefined ? null : withParsedBody(JSON.parse(received));
  } catch {
    return null;
  }
}

/** @param place that of the line in its run, see `logPlace` */
export const logEvent = ({ run }: { readonly run: Pick<Commit["run"], "id"> }, record: LogRecord, place: number): DerivedEvent => ({
  emitId: `${run.id}l${place}`,
  channel: "$logs",
  ts: record.ts,
  payload: JSON.stringify(record),
});

/** More than the log lines of a step. */
const placesPerStep = 20_000;
/** A place has 31 bits. Of a run with more steps, only the last so many have log lines with different places. */
const numberedSteps = 100_000;

/** The place of a commit's line among all lines of its run. A run of a workflow has a number for each step. */
export function logPlace({ workflow }: { readonly workflow?: Pick<WorkflowProgress, "number" | "before"> }, index: number): number {
  if (workflow === undefined) return index;
  const { number, before = [] } = workflow;
  const first = ((number - before.length - 1) % numberedSteps) * placesPerStep;
  return first + Math.min(index, (before.length + 1) * placesPerStep - 1);
}
