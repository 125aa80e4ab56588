import type { Trigger } from "../trigger.ts";
import { hasEnded, type RunStatus } from "../workflow/run-state.ts";
import type { TracedRun } from "./records.ts";
import type { Span, SpanStatus } from "./span.ts";

const statuses: Readonly<Record<RunStatus, SpanStatus>> = {
  running: "running",
  suspended: "waiting",
  succeeded: "succeeded",
  exited: "succeeded",
  failed: "failed",
  canceled: "canceled",
};

const triggerNames: Readonly<Record<Trigger, string>> = {
  timer: "Tick of a timer",
  http: "HTTP request",
  email: "Email",
  event: "Event",
  manual: "Run by hand",
  hook: "Hook",
  configure: "Configuration",
  "dry-run": "Dry run",
  resume: "Resumption",
  control: "Control",
};

export const runSpanId = ({ emitter, id }: Pick<TracedRun, "emitter" | "id">): string => `${emitter}.${id}`;

/** What has started a run that no event has: at the time from which the run was queued. */
export function triggerSpan(run: TracedRun): Span {
  const at = run.startedAt - (run.queuedMs ?? 0);
  const name = run.hook === null ? triggerNames[run.trigger] : `Hook ${run.hook}`;
  return { id: `${runSpanId(run)}/trigger`, kind: "event", name, startedAt: at, endedAt: at };
}

/** @param name of its source or workflow */
export function runSpan(run: TracedRun, name: string): Span {
  const { deployment, repeats, cpuMs } = run;
  return {
    id: runSpanId(run),
    kind: "run",
    name,
    detail: run.id,
    status: statuses[run.status],
    startedAt: run.startedAt,
    endedAt: hasEnded(run.status) ? run.endedAt : null,
    about: { object: run.emitter, run: run.id, deployment, ...(repeats === null ? {} : { repeats }) },
    ...(cpuMs === null ? {} : { cpuMs }),
  };
}

/** What passed before the code of the run began. */
export function waitsOf(run: TracedRun): readonly Span[] {
  const { startedAt, queuedMs, startMs } = run;
  const [id, about] = [runSpanId(run), { object: run.emitter, run: run.id }];
  return [
    ...(queuedMs === null || queuedMs <= 0
      ? []
      : [{ id: `${id}/queue`, kind: "queue", name: "Queue", startedAt: startedAt - queuedMs, endedAt: startedAt, about } as const]),
    ...(startMs === null || startMs <= 0
      ? []
      : [{ id: `${id}/start`, kind: "start", name: "Start of the code", startedAt, endedAt: startedAt + startMs, about } as const]),
  ];
}
