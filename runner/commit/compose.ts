import type { Commit, CommittedRun, SourceState } from "../../domain/run/commit.ts";
import type { CommittedEvent } from "../../domain/event/committed-event.ts";
import { acceptEmits } from "../../domain/event/dedupe.ts";
import type { Deployment } from "../../domain/source/deployment.ts";
import { addProcessed } from "../../domain/event/processed-events.ts";
import { nextEventId } from "../../domain/event/event-id.ts";
import type { Invocation } from "../../domain/invocation/invocation.ts";
import type { LogRecord, RunError } from "../../domain/run-products.ts";
import { disabledError, isDisabled, recordRun } from "../../domain/run/kills.ts";
import { dbChangesOf } from "../../domain/invocation/db-change.ts";
import { SecretMask } from "../../domain/secrets/secret-mask.ts";
import { traceContext } from "../../domain/traces.ts";
import { raiseWatermarks, type QueuePosition } from "../../domain/invocation/watermark.ts";
import type { Emit, Execution, Products } from "../sandbox/port.ts";
import { maskSecrets } from "./mask-secrets.ts";

/** An execution with everything that its commit is made of. */
export interface FinishedRun {
  readonly deployment: Deployment;
  readonly invocation: Invocation;
  readonly position: QueuePosition;
  readonly runId: string;
  readonly startedAt: number;
  /** Epoch ms from which it was queued. */
  readonly queuedAt: number;
  /** From its start until its code ran; absent: it did not run. */
  readonly startMs?: number;
  readonly execution: Execution;
  /** JSON text of the event passed to the run, kept whole if it fails; absent: the run was not started, or its commit has no room for it. */
  readonly event?: string | undefined;
  /** Secret prop values and account credentials, to be masked in the commit. Absent: none. */
  readonly secrets?: Readonly<Record<string, unknown>>;
  /** Epoch ms at which the tick was due; only for ticks. */
  readonly dueAt?: number;
  /** Number of ticks that were skipped since the previous run. */
  readonly skippedTicks: number;
  /** Due times of the last of them, epoch ms. */
  readonly skippedDue: readonly number[];
  /** Parent span of the deliveries. */
  readonly traceparent?: string | undefined;
}

const noProducts: Products = { emits: [], logs: [], db: {}, response: null, durationMs: 0, cpuMs: 0 };

/**
 * Composes a run's commit: events after dedupe, logs, error, and the state from which the next run starts.
 * Apart from `randomId`, the same execution on the same state makes the same commit.
 */
export function composeCommit(finished: FinishedRun, state: SourceState, now: number, randomId: () => string): Commit {
  const { deployment, invocation, execution } = finished;
  const products = execution.outcome === "crashed" ? noProducts : execution;
  const emits = invocation.discardEvents === true ? [] : products.emits;
  const accepted = acceptEmits(deployment.dedupe ?? "none", state.dedupe, emits);
  const events = eventsOf(accepted.accepted, state.lastEventId, now, randomId);
  const kills = recordRun(state.kills, deployment.id, finished.startedAt, costProcess(execution));
  const thrown = errorOf(execution) ?? accepted.errors[0] ?? null;
  const isDisabledNow = isDisabled(kills, deployment.id) && !isDisabled(state.kills, deployment.id);
  const disabled = isDisabledNow ? disabledError(deployment.source, thrown ?? undefined) : null;
  const masked = maskSecrets(
    {
      run: runOf(finished, products, disabled ?? thrown),
      logs: logsOf(finished, products.logs, [errorOf(execution), ...accepted.errors, disabled], now),
      error: disabled ?? thrown,
    },
    finished.secrets,
  );
  return {
    source: deployment.source,
    owner: deployment.owner,
    deployment: deployment.id,
    events,
    ...masked,
    run: {
      ...masked.run,
      ...detailsOf(finished, products, state, products.emits.length - accepted.accepted.length - accepted.errors.length),
    },
    ...(invocation.hops === undefined ? {} : { hops: invocation.hops }),
    ...(invocation.way === undefined ? {} : { way: invocation.way }),
    ...traceContext({ traceparent: finished.traceparent, tracestate: invocation.tracestate }),
    state: {
      db: mergeDb(state.db, products.db),
      dedupe: accepted.state,
      watermarks: raiseWatermarks(state.watermarks, finished, now),
      lastEventId: events.at(-1)?.id ?? state.lastEventId,
      hooks: recordHook(finished, state.hooks, masked.error),
      ...recordLink(invocation, state.links),
      ...recordDelivery(invocation, state.heard),
      ...(kills === undefined ? {} : { kills }),
    },
  };
}

function recordLink({ chain, at }: Invocation, links: SourceState["links"]): Pick<SourceState, "links"> {
  if (chain !== undefined && at !== undefined) return { links: { ...links, [chain]: at } };
  return links === undefined ? {} : { links };
}

function recordDelivery({ delivery }: Invocation, heard: SourceState["heard"]): Pick<SourceState, "heard"> {
  if (delivery !== undefined) return { heard: addProcessed(heard, delivery) };
  return heard === undefined ? {} : { heard };
}

function recordHook(finished: FinishedRun, hooks: SourceState["hooks"], error: RunError | null): SourceState["hooks"] {
  const { hook } = finished.invocation;
  if (hook === undefined) return hooks;
  const { generation } = finished.deployment;
  const before = hooks[hook]?.generation === generation ? hooks[hook].attempts : 0;
  return { ...hooks, [hook]: { generation, run: finished.runId, attempts: before + 1, error } };
}

function costProcess(execution: Execution): boolean {
  return (execution.outcome === "limited" || execution.outcome === "crashed") && execution.costProcess === true;
}

function errorOf(execution: Execution): RunError | null {
  switch (execution.outcome) {
    case "returned":
      return null;
    case "threw":
    case "limited":
      return execution.error;
    case "crashed":
      return {
        name: "RunnerCrash",
        code: "runner_crash",
        message: `the process of this run ended twice: ${execution.message}`,
      };
  }
}

function runOf(finished: FinishedRun, products: Products, error: RunError | null): CommittedRun {
  const { invocation, deployment, execution, event, dueAt, skippedDue } = finished;
  return {
    id: finished.runId,
    trigger: invocation.trigger,
    ...(invocation.hook === undefined ? {} : { hook: invocation.hook }),
    generation: deployment.generation,
    startedAt: finished.startedAt,
    durationMs: products.durationMs,
    cpuMs: products.cpuMs,
    result: execution.outcome === "returned" ? execution.result : null,
    ...(error === null || event === undefined ? {} : { received: event }),
    ...(dueAt === undefined ? {} : { dueAt }),
    ...(skippedDue.length === 0 ? {} : { skippedTicks: skippedDue }),
  };
}

/** What the trace of the run shows besides its result. */
function detailsOf(
  { invocation, startedAt, queuedAt, startMs, execution, secrets = {} }: FinishedRun,
  { db }: Products,
  state: SourceState,
  duplicates: number,
): Pick<CommittedRun, "cause" | "queuedMs" | "startMs" | "duplicates" | "dbChanges"> {
  const { metadata } = invocation;
  let mask: SecretMask | undefined;
  const dbChanges = dbChangesOf(state.db, db, (name) => (mask ??= new SecretMask(secrets)).text(name));
  return {
    ...(metadata === undefined ? {} : { cause: { emitter: metadata.emitter_id, emitId: metadata.emit_id } }),
    ...queuedOf(startedAt, queuedAt),
    // If its process ended with the run, the duration is 0, and that of the run is part of `startMs`.
    ...(startMs === undefined || costProcess(execution) ? {} : { startMs }),
    ...(invocation.discardEvents === true || duplicates === 0 ? {} : { duplicates }),
    ...(dbChanges.length === 0 ? {} : { dbChanges }),
  };
}

/** The clock of NATS, which stored the invocation, may be ahead of ours. */
export const queuedOf = (startedAt: number, queuedAt: number): { readonly queuedMs?: number } =>
  startedAt > queuedAt ? { queuedMs: startedAt - queuedAt } : {};

function eventsOf(emits: readonly Emit[], lastEventId: string | null, now: number, randomId: () => string): CommittedEvent[] {
  let last = lastEventId;
  return emits.map((emit) => {
    const id = nextEventId(last, now);
    last = id;
    return {
      id,
      emitId: randomId(),
      channel: emit.name ?? "",
      dedupeId: emit.id === undefined ? null : String(emit.id),
      summary: emit.summary ?? null,
      ts: emit.ts ?? emit.at,
      ...(emit.deliverAt === undefined ? {} : { deliverAt: emit.deliverAt }),
      payload: emit.payload,
    };
  });
}

function logsOf(
  { invocation, startedAt, skippedTicks }: FinishedRun,
  logs: readonly LogRecord[],
  errors: readonly (RunError | null)[],
  now: number,
): LogRecord[] {
  const before: LogRecord[] = [];
  if (invocation.hook !== undefined) before.push({ k: "hook", ts: startedAt, h: invocation.hook });
  if (skippedTicks > 0) before.push({ k: "console.warn", ts: startedAt, msg: skippedMessage(skippedTicks) });
  const after = errors.flatMap((err): LogRecord[] => (err === null ? [] : [{ k: "error", ts: now, err }]));
  return [...before, ...logs, ...after];
}

function skippedMessage(ticks: number): string {
  return `${ticks} tick${ticks === 1 ? " was" : "s were"} skipped because a run took longer than the timer's interval`;
}

function mergeDb(db: SourceState["db"], changes: Products["db"]): SourceState["db"] {
  const merged: Record<string, Record<string, string>> = { ...db };
  for (const [prop, keys] of Object.entries(changes)) {
    const next = new Map(Object.entries(merged[prop] ?? {}));
    for (const [key, text] of Object.entries(keys)) {
      if (text === null) next.delete(key);
      else next.set(key, text);
    }
    merged[prop] = Object.fromEntries(next);
  }
  return merged;
}
