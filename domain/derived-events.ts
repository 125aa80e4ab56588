import type { Commit, CommittedEvent } from "./commit.ts";
import type { LogRecord, RunError } from "./invocation.ts";

/** What a run has to tell besides what it emitted. */
export type DerivedEvent = Pick<CommittedEvent, "emitId" | "channel" | "ts" | "payload">;

/** What of a failed run's commit its error event tells. */
type Failed = Pick<Commit, "source" | "owner" | "deployment"> & {
  readonly run: Pick<Commit["run"], "id" | "trigger" | "startedAt" | "durationMs" | "received">;
};

/**
 * The form of a workflow's error event (specification, "Workflow error event summary"), as far as a source has its parts. Its
 * `original_event` is what the run was given; null when there was nothing, or more than is kept.
 */
export function errorEvent({ run, source, deployment, owner }: Failed, error: RunError): DerivedEvent {
  const ts = run.startedAt + Math.round(run.durationMs);
  const time = new Date(ts).toISOString();
  const of = { source_id: source, deployment_id: deployment, owner_id: owner, trigger: run.trigger };
  const payload = JSON.stringify({
    original_event: originalEvent(run.received),
    original_context: { id: run.id, ts: time, ...of },
    error: { code: error.code ?? error.name, name: error.name, message: error.message, stack: error.stack, ts: time },
  });
  // Named after the run, so that a repeated delivery has the same id; a source's run ids are unique.
  return { emitId: `${run.id}e`, channel: "$errors", ts, payload };
}

/** A runner, where user code lives, may forge it: what is no JSON is none. */
function originalEvent(received: string | undefined): unknown {
  try {
    return received === undefined ? null : (JSON.parse(received) as unknown);
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

/** The channels that nobody emits to: what goes wrong in runs, and what they log. */
export const isDerived = (channel: string | undefined): channel is "$errors" | "$logs" => channel === "$errors" || channel === "$logs";
