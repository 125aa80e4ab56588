import type { TracedRun, TracedStep } from "./records.ts";
import { runSpanId } from "./run-spans.ts";
import type { Span, SpanStatus } from "./span.ts";

/** The spans of a step: itself, and below it its attempts and waits. `calls`: numbers of its commits, one of which may have called a run. */
export interface StepSpans {
  readonly span: Span;
  readonly children: readonly Span[];
  readonly commits: readonly number[];
}

/** @param steps attempts of the run's steps, in order of their commits */
export function stepSpans(run: TracedRun, steps: readonly TracedStep[]): readonly StepSpans[] {
  const order = steps.map(({ startedAt }) => startedAt).toSorted((a, b) => a - b);
  return groupsOf(steps).map((attempts) => spansOf(run, attempts, order));
}

/** Attempts of one execution of a step: a step in a loop is executed again, with attempt 1. */
function groupsOf(steps: readonly TracedStep[]): readonly (readonly [TracedStep, ...TracedStep[]])[] {
  const last = new Map<string, [TracedStep, ...TracedStep[]]>();
  const groups: [TracedStep, ...TracedStep[]][] = [];
  for (const step of steps) {
    const group = last.get(step.id);
    const previous = group?.at(-1);
    if (group !== undefined && previous !== undefined && step.attempt > previous.attempt) {
      group.push(step);
      continue;
    }
    const next: [TracedStep, ...TracedStep[]] = [step];
    last.set(step.id, next);
    groups.push(next);
  }
  return groups;
}

function spansOf(run: TracedRun, attempts: readonly [TracedStep, ...TracedStep[]], order: readonly number[]): StepSpans {
  const [first] = attempts;
  const last = attempts.at(-1) ?? first;
  const id = `${runSpanId(run)}/${first.number}`;
  const about = { object: run.emitter, run: run.id, step: first.id };
  const waits = attempts.flatMap((step, at) => waitAfter(step, { id, run, next: attempts[at + 1]?.startedAt, order }));
  const isWaiting = waits.at(-1)?.endedAt === null;
  const shown = attempts.length === 1 ? [] : attempts.map((step) => attemptSpan(step, id, about));
  const span: Span = {
    id,
    kind: "step",
    name: first.name,
    ...(last.attempt === 1 ? {} : { detail: attempts.length === 1 ? `attempt ${last.attempt}` : `${attempts.length} attempts` }),
    status: isWaiting ? "waiting" : statusOf(last),
    startedAt: first.startedAt,
    endedAt: endOf(last),
    about: { ...about, attempt: last.attempt },
    cpuMs: attempts.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
  };
  return { span, children: [...shown, ...waits], commits: attempts.map(({ number }) => number) };
}

const endOf = ({ startedAt, durationMs }: TracedStep): number => startedAt + durationMs;

const statusOf = ({ outcome }: TracedStep): SpanStatus =>
  outcome === "failed" || outcome === "continued" || outcome === "retried" ? "failed" : "succeeded";

const attemptSpan = (step: TracedStep, parent: string, about: NonNullable<Span["about"]>): Span => ({
  id: `${parent}/attempt-${step.number}`,
  kind: "attempt",
  name: `Attempt ${step.attempt}`,
  detail: step.outcome,
  status: statusOf(step),
  startedAt: step.startedAt,
  endedAt: endOf(step),
  about: { ...about, attempt: step.attempt },
  cpuMs: step.cpuMs,
});

interface Waiting {
  /** Id of the step's span. */
  readonly id: string;
  readonly run: TracedRun;
  /** Start of its next attempt. */
  readonly next: number | undefined;
  /** Starts of all attempts of the run. */
  readonly order: readonly number[];
}

/** Until its next attempt; after a suspension, until the next attempt of any step, or the end of the run. */
function waitAfter(step: TracedStep, { id, run, next, order }: Waiting): readonly Span[] {
  const names = { suspended: "Suspended", rerun: "Wait before it runs again", retried: "Wait before the next attempt" } as const;
  if (step.outcome !== "suspended" && step.outcome !== "rerun" && step.outcome !== "retried") return [];
  const startedAt = endOf(step);
  const endedAt = next ?? (step.outcome === "suspended" ? order.find((start) => start >= startedAt) : undefined) ?? run.endedAt;
  const about = { object: run.emitter, run: run.id, step: step.id };
  return [{ id: `${id}/wait-${step.number}`, kind: "wait", name: names[step.outcome], ...openWait(endedAt), startedAt, endedAt, about }];
}

const openWait = (endedAt: number | null): Pick<Span, "status"> => (endedAt === null ? { status: "waiting" } : {});
