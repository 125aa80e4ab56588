import type { Commit, CommittedEvent, CommittedRun, SourceState } from "../../domain/run/commit.ts";
import { acceptEmits } from "../../domain/event/dedupe.ts";
import type { Deployment } from "../../domain/source/deployment.ts";
import { addProcessed } from "../../domain/event/processed-events.ts";
import { nextEventId } from "../../domain/event/event-id.ts";
import type { Invocation, LogRecord, RunError } from "../../domain/invocation/invocation.ts";
import { disabledError, isDisabled, rememberRun } from "../../domain/run/kills.ts";
import { traceContext } from "../../domain/traces.ts";
import { answer, type QueuePosition } from "../../domain/invocation/watermark.ts";
import type { Emit, Execution, Products } from "../sandbox/port.ts";
import { withoutSecrets } from "./mask-secrets.ts";

export interface Ran {
  readonly deployment: Deployment;
  readonly invocation: Invocation;
  readonly position: QueuePosition;
  readonly runId: string;
  readonly startedAt: number;
  readonly execution: Execution;
  /** JSON text of the event that the run got; absent: it got none. */
  readonly event?: string;
  /** Secret prop values and credentials of accounts, which nothing that can be read of the run shows. Absent: none. */
  readonly secrets?: Readonly<Record<string, unknown>>;
  /** Epoch ms at which it was due; of a tick alone. */
  readonly dueAt?: number;
  /** Ticks that were dropped because one was waiting already. */
  readonly skippedTicks: number;
  /** Epoch ms at which the last of them were due. */
  readonly skippedDue: readonly number[];
  /** What deliveries follow from. */
  readonly traceparent?: string | undefined;
}

/** An error event has it whole or not at all; the history keeps it with each failed run. */
const maxReceived = 64 * 1024;

const nothing: Products = { emits: [], logs: [], db: {}, response: null, durationMs: 0, cpuMs: 0 };

/**
 * What a run leaves: its events after dedupe, its logs, its error, and the state the next run starts from.
 * Pure but for `randomId`: the same execution on the same state makes the same commit.
 */
export function composeCommit(ran: Ran, state: SourceState, now: number, randomId: () => string): Commit {
  const { deployment, invocation, execution } = ran;
  const products = execution.outcome === "crashed" ? nothing : execution;
  const emits = invocation.discardEvents === true ? [] : products.emits;
  const accepted = acceptEmits(deployment.dedupe ?? "none", state.dedupe, emits);
  const events = identify(accepted.accepted, state.lastEventId, now, randomId);
  const kills = rememberRun(state.kills, deployment.id, ran.startedAt, costProcess(execution));
  const thrown = errorOf(execution) ?? accepted.errors[0] ?? null;
  const isLast = isDisabled(kills, deployment.id) && !isDisabled(state.kills, deployment.id);
  const disabled = isLast ? disabledError(deployment.source, thrown ?? undefined) : null;
  const shown = withoutSecrets(
    {
      run: runOf(ran, products, disabled ?? thrown),
      logs: logsOf(ran, products.logs, [errorOf(execution), ...accepted.errors, disabled], now),
      error: disabled ?? thrown,
    },
    ran.secrets,
  );
  return {
    source: deployment.source,
    owner: deployment.owner,
    deployment: deployment.id,
    events,
    ...shown,
    ...(invocation.hops === undefined ? {} : { hops: invocation.hops }),
    ...(invocation.way === undefined ? {} : { way: invocation.way }),
    ...traceContext({ traceparent: ran.traceparent, tracestate: invocation.tracestate }),
    state: {
      db: mergeDb(state.db, products.db),
      dedupe: accepted.state,
      watermarks: answer(state.watermarks, ran, now),
      lastEventId: events.at(-1)?.id ?? state.lastEventId,
      hooks: rememberHook(ran, state.hooks, shown.error),
      ...rememberLink(invocation, state.links),
      ...rememberDelivery(invocation, state.heard),
      ...(kills === undefined ? {} : { kills }),
    },
  };
}

function rememberLink({ chain, at }: Invocation, links: SourceState["links"]): Pick<SourceState, "links"> {
  if (chain !== undefined && at !== undefined) return { links: { ...links, [chain]: at } };
  return links === undefined ? {} : { links };
}

function rememberDelivery({ delivery }: Invocation, heard: SourceState["heard"]): Pick<SourceState, "heard"> {
  if (delivery !== undefined) return { heard: addProcessed(heard, delivery) };
  return heard === undefined ? {} : { heard };
}

function rememberHook(ran: Ran, hooks: SourceState["hooks"], error: RunError | null): SourceState["hooks"] {
  const { hook } = ran.invocation;
  if (hook === undefined) return hooks;
  const { generation } = ran.deployment;
  const before = hooks[hook]?.generation === generation ? hooks[hook].attempts : 0;
  return { ...hooks, [hook]: { generation, run: ran.runId, attempts: before + 1, error } };
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

function runOf(ran: Ran, products: Products, error: RunError | null): CommittedRun {
  const { invocation, deployment, execution, event, dueAt, skippedDue } = ran;
  return {
    id: ran.runId,
    trigger: invocation.trigger,
    ...(invocation.hook === undefined ? {} : { hook: invocation.hook }),
    generation: deployment.generation,
    startedAt: ran.startedAt,
    durationMs: products.durationMs,
    cpuMs: products.cpuMs,
    result: execution.outcome === "returned" ? execution.result : null,
    ...(error === null || event === undefined || event.length > maxReceived ? {} : { received: event }),
    ...(dueAt === undefined ? {} : { dueAt }),
    ...(skippedDue.length === 0 ? {} : { skippedTicks: skippedDue }),
  };
}

function identify(emits: readonly Emit[], lastEventId: string | null, now: number, randomId: () => string): CommittedEvent[] {
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

function logsOf(ran: Ran, logs: readonly LogRecord[], errors: readonly (RunError | null)[], now: number): LogRecord[] {
  const before: LogRecord[] = [];
  if (ran.invocation.hook !== undefined) before.push({ k: "hook", ts: ran.startedAt, h: ran.invocation.hook });
  if (ran.skippedTicks > 0) before.push({ k: "console.warn", ts: ran.startedAt, msg: skippedMessage(ran.skippedTicks) });
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
