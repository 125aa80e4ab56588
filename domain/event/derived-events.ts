import type { Commit, CommittedEvent } from "../run/commit.ts";
import { withParsedBody } from "../invocation/http-body.ts";
import type { LogRecord, RunError, Trigger } from "../invocation/invocation.ts";
import { platformVersion } from "../version.ts";

/** An event derived from a run's error or log line. */
export type DerivedEvent = Pick<CommittedEvent, "emitId" | "channel" | "ts" | "payload">;

/** The parts of a failed run's commit that its error event contains. */
type Failed = Pick<Commit, "source" | "owner" | "deployment"> & {
  readonly run: Pick<Commit["run"], "id" | "trigger" | "startedAt" | "durationMs" | "received">;
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
}

/**
 * The error event of a failed run. `original_event` is the event that the run received; null when there was none, or one that is too
 * large to keep.
 */
export function errorEvent({ run, source, deployment, owner }: Failed, error: RunError): DerivedEvent {
  const ts = run.startedAt + Math.round(run.durationMs);
  const context = { id: run.id, at: ts, emitter: source, owner, deployment, trigger: run.trigger };
  const payload = JSON.stringify(errorData(context, error, originalEvent(run.received)));
  // Named after the run, so that a repeated delivery has the same id; a source's run ids are unique.
  return { emitId: `${run.id}e`, channel: "$errors", ts, payload };
}

/**
 * The data of an error event (specification, "Workflow error event summary"), the same for workflows and sources. Clients read
 * `workflow_id` and `error.msg`; `source_id` and `error.message` are our names for the same.
 */
export function errorData({ id, at, emitter, owner, deployment, trigger }: ErrorContext, error: RunError, originalEvent: unknown) {
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
      cellId: cellIdOf(emitter),
      stack: error.stack ?? `${error.name}: ${error.message}`,
      ts,
    },
  };
}

/** A source or workflow counts as one cell, whose id is its id with the prefix of cells. */
const cellIdOf = (emitter: string): string => emitter.replace(/^[a-z]+_/, "c_");

/** A runner may forge it, so invalid JSON counts as absent. */
function originalEvent(received: string | undefined): unknown {
  try {
    return received === undefined ? null : withParsedBody(JSON.parse(received));
  } catch {
    return null;
  }
}

export const logEvent = ({ run }: { readonly run: Pick<Commit["run"], "id"> }, record: LogRecord, index: number): DerivedEvent => ({
  emitId: `${run.id}l${index}`,
  channel: "$logs",
  ts: record.ts,
  payload: JSON.stringify(record),
});

/** The channels of errors and logs of runs, to which components cannot emit. */
export const isDerived = (channel: string | undefined): channel is "$errors" | "$logs" => channel === "$errors" || channel === "$logs";
