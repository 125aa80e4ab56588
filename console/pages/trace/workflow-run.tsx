import { useState } from "react";
import type { Span, StepAttempt, WorkflowRunDetails } from "../../../client/generated/operations.ts";
import { useRead } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { formatDuration } from "../../parts/format.ts";
import { LogLines } from "../../parts/log-lines.tsx";
import { ErrorNotice, Loaded } from "../../parts/notices.tsx";
import { Facts } from "../../parts/page.tsx";
import { useCanWrite } from "../../parts/session-context.tsx";
import { Tree } from "../../parts/tree.tsx";
import { Emitted } from "./emitted.tsx";
import { Hint, InspectorTabs, SpanFacts } from "./parts.tsx";
import { RepeatFrom, RunActions } from "./run-actions.tsx";
import { RunAgainDialog } from "./run-again.tsx";
import { text } from "./strings.ts";

const refreshMs = 5_000;

/** A run of a workflow, or one of its steps. */
export function WorkflowRun({ span }: { readonly span: Span }) {
  const read = useRead(
    "getWorkflowRun",
    { path: { workflow_id: span.workflow_id ?? "", run_id: span.run_id ?? "" } },
    { everyMs: refreshMs },
  );
  const run = read.data?.data;
  return (
    <Loaded isLoading={read.isPending} error={read.data === undefined ? read.error : null} retry={() => void read.refetch()}>
      {run !== undefined &&
        "steps" in run &&
        (span.step_id === undefined ? <RunView span={span} run={run} /> : <StepView span={span} run={run} />)}
    </Loaded>
  );
}

interface ViewProps {
  readonly span: Span;
  readonly run: WorkflowRunDetails;
}

function RunView({ span, run }: ViewProps) {
  const returned = run.steps.at(-1)?.return_value;
  const logs = run.steps.flatMap((step) => step.logs);
  return (
    <>
      <SpanFacts
        span={span}
        more={[[text.trigger, run.trigger], ...(run.reason === null ? [] : [[text.reason, <bdi key="reason">{run.reason}</bdi>] as const])]}
      />
      <RunActions run={run} />
      {run.ended_at_ms !== null && <RunAgain run={run} />}
      {run.error !== null && <ErrorNotice title={run.error.name} error={new Error(run.error.stack ?? run.error.message)} />}
      <InspectorTabs
        views={[
          ["input", text.tabs.input, <Value key="input" value={run.event} hint={text.noInputs} />],
          ["output", text.tabs.output, <Value key="output" value={returned} hint={text.noOutput} />],
          ["logs", text.tabs.logs, <Logs key="logs" records={logs} />],
          ["events", text.tabs.events, <Emitted key="events" emitter={run.workflow_id} ids={run.event_ids} />],
          ["cost", text.tabs.cost, <RunCost key="cost" run={run} />],
        ]}
      />
    </>
  );
}

/** Attempts of a step; of a step in a loop, those of the span's time. */
function attemptsOf(
  { step_id, kind, started_at_ms: from, ended_at_ms: until }: Span,
  steps: readonly StepAttempt[],
): readonly StepAttempt[] {
  const own = steps.filter(({ id }) => id === step_id);
  const isWithin = ({ started_at_ms: at }: StepAttempt): boolean => at >= (from ?? 0) && at <= (until ?? Number.POSITIVE_INFINITY);
  return kind === "wait" ? own.slice(0, 0) : own.filter(isWithin);
}

function StepView({ span, run }: ViewProps) {
  const attempts = attemptsOf(span, run.steps);
  const last = attempts.at(-1);
  const summary = last?.summary;
  return (
    <>
      <SpanFacts span={span} more={typeof summary === "string" ? [[text.summary, <bdi key="summary">{summary}</bdi>]] : []} />
      <RepeatFrom run={run} step={span.step_id ?? ""} />
      {last !== undefined && <Attempt attempt={last} all={attempts} />}
    </>
  );
}

function Attempt({ attempt, all }: { readonly attempt: StepAttempt; readonly all: readonly StepAttempt[] }) {
  const { error, inputs, exports, return_value: returned } = attempt;
  return (
    <>
      {error !== null && <ErrorNotice title={error.name} error={new Error(error.stack ?? error.message)} />}
      <InspectorTabs
        views={[
          ["input", text.tabs.input, <Value key="input" value={inputs} hint={text.noInputs} />],
          [
            "output",
            text.tabs.output,
            <div key="output">
              <Value value={returned} hint={text.noOutput} name={text.returned} />
              {exports !== null && exports !== undefined && <Tree name={text.exports} value={exports} depth={1} />}
            </div>,
          ],
          ["logs", text.tabs.logs, <Logs key="logs" records={all.flatMap(({ logs }) => logs)} />],
          ["cost", text.tabs.cost, <StepCost key="cost" attempts={all} />],
        ]}
      />
    </>
  );
}

function Value({ value, hint, name }: { readonly value: unknown; readonly hint: string; readonly name?: string }) {
  if (value === null || value === undefined) return <Hint>{hint}</Hint>;
  return <Tree value={value} {...(name === undefined ? {} : { name })} />;
}

const Logs = ({ records }: { readonly records: StepAttempt["logs"] }) =>
  records.length === 0 ? <Hint>{text.noLogs}</Hint> : <LogLines records={records} />;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

const StepCost = ({ attempts }: { readonly attempts: readonly StepAttempt[] }) => (
  <Facts
    facts={[
      [text.cpu, formatDuration(sum(attempts.map(({ cpu_ms: ms }) => ms)))],
      [text.computed, formatDuration(sum(attempts.map(({ duration_ms: ms }) => ms)))],
      [text.attempt, text.attempts(attempts.length)],
    ]}
  />
);

const RunCost = ({ run }: { readonly run: WorkflowRunDetails }) => (
  <Facts
    facts={[
      [text.cpu, formatDuration(sum(run.steps.map(({ cpu_ms: ms }) => ms)))],
      [text.computed, formatDuration(run.compute_ms)],
      ...(run.duration_ms === null ? [] : [[text.duration, formatDuration(run.duration_ms)] as const]),
    ]}
  />
);

function RunAgain({ run }: { readonly run: WorkflowRunDetails }) {
  const [isOpen, setIsOpen] = useState(false);
  if (!useCanWrite()) return null;
  return (
    <div>
      <Button onClick={() => setIsOpen(true)}>{text.edit}</Button>
      {isOpen && (
        <RunAgainDialog of={{ workflow: run.workflow_id, run: run.id }} event={run.event ?? undefined} onClose={() => setIsOpen(false)} />
      )}
    </div>
  );
}
