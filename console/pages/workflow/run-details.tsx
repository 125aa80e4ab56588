import type { StepAttempt, WorkflowRunDetails } from "../../../client/generated/operations.ts";
import { useRead } from "../../api/queries.ts";
import { TextLink } from "../../parts/button.tsx";
import { Id } from "../../parts/copy-button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { formatDuration } from "../../parts/format.ts";
import { LogLines } from "../../parts/log-lines.tsx";
import { ErrorNotice, Loaded } from "../../parts/notices.tsx";
import { Facts } from "../../parts/page.tsx";
import { useSearchParams } from "../../parts/search.ts";
import { State } from "../../parts/state.tsx";
import { Time } from "../../parts/time.tsx";
import { Tree } from "../../parts/tree.tsx";
import { RepeatFrom, RunActions } from "./run-actions.tsx";
import { text } from "./strings.ts";

const refreshMs = 5_000;

/** A run of a workflow, step by step. */
export function RunDetailsDialog({
  workflow,
  id,
  onClose,
}: {
  readonly workflow: string;
  readonly id: string;
  readonly onClose: () => void;
}) {
  const read = useRead("getWorkflowRun", { path: { workflow_id: workflow, run_id: id } }, { everyMs: refreshMs });
  const run = read.data?.data;
  return (
    <Dialog title={text.run} isOpen onClose={onClose} isWide>
      <Loaded isLoading={read.isPending} error={read.data === undefined ? read.error : null} retry={() => void read.refetch()}>
        {run !== undefined && ("steps" in run ? <RunDetails run={run} /> : <p className="text-sm">{text.stillRunning}</p>)}
      </Loaded>
    </Dialog>
  );
}

function RunDetails({ run }: { readonly run: WorkflowRunDetails }) {
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Facts
        facts={[
          ["Id", <Id key="id" id={run.id} />],
          [text.status, <State key="state" state={run.status} label={text.statuses[run.status]} />],
          [text.startedBy, run.trigger],
          [text.started, <Time key="started" ms={run.started_at_ms} />],
          ...(run.duration_ms === null ? [] : [[text.duration, formatDuration(run.duration_ms)] as const]),
          ...(run.resume_at_ms === null ? [] : [[text.resumes, <Time key="resumes" ms={run.resume_at_ms} />] as const]),
          ...(run.reason === null ? [] : [[text.reason, run.reason] as const]),
          ...(run.repeats === null ? [] : [[text.repeats, <RunLink key="repeats" id={run.repeats} />] as const]),
          ...(run.cause === null ? [] : [[text.cause, <Cause key="cause" cause={run.cause} />] as const]),
        ]}
      />
      <RunActions run={run} />
      {run.error !== null && <ErrorNotice title={run.error.name} error={new Error(run.error.stack ?? run.error.message)} />}
      {run.event !== null && <Tree name={text.event} value={run.event} />}
      {run.steps.length === 0 && <p className="text-sm text-muted">{text.noSteps}</p>}
      {run.steps.map((step) => (
        <Step key={`${step.id} ${step.attempt} ${step.started_at_ms}`} run={run} step={step} />
      ))}
      {run.sends.length > 0 && <Sends run={run} />}
    </div>
  );
}

function Cause({ cause }: { readonly cause: NonNullable<WorkflowRunDetails["cause"]> }) {
  const { emitter_id: emitter, event_id: event } = cause;
  if (!emitter.startsWith("dc_")) return emitter;
  return (
    <TextLink to="/sources/$id" params={{ id: emitter } as never} search={(typeof event === "string" ? { event } : {}) as never}>
      {emitter}
    </TextLink>
  );
}

function RunLink({ id }: { readonly id: string }) {
  const [, setSearch] = useSearchParams();
  return (
    <button type="button" className="font-mono text-xs text-accent hover:underline" onClick={() => setSearch({ run: id })}>
      {id}
    </button>
  );
}

function Step({ run, step }: { readonly run: WorkflowRunDetails; readonly step: StepAttempt }) {
  return (
    <section aria-label={step.name} className="flex min-w-0 flex-col gap-2 rounded-md border border-line p-3">
      <h3 className="flex flex-wrap items-center gap-3 text-sm">
        <bdi className="font-semibold">{step.name}</bdi>
        <State state={step.outcome} />
        <span className="text-muted">
          {step.attempt > 1 ? `${text.attempt(step.attempt)}, ` : ""}
          {formatDuration(step.duration_ms)}
        </span>
        {typeof step.summary === "string" && <bdi className="text-muted">{step.summary}</bdi>}
        <RepeatFrom run={run} step={step.id} />
      </h3>
      {step.error !== null && <ErrorNotice title={step.error.name} error={new Error(step.error.stack ?? step.error.message)} />}
      {step.inputs !== null && step.inputs !== undefined && <Tree name={text.inputs} value={step.inputs} depth={1} />}
      {step.exports !== null && step.exports !== undefined && <Tree name={text.exports} value={step.exports} depth={1} />}
      {step.return_value !== null && step.return_value !== undefined && <Tree name={text.returned} value={step.return_value} depth={1} />}
      {step.logs.length > 0 && <LogLines records={step.logs} />}
    </section>
  );
}

function Sends({ run }: { readonly run: WorkflowRunDetails }) {
  return (
    <section aria-label={text.sends} className="flex flex-col gap-2">
      <h3 className="font-semibold">{text.sends}</h3>
      <ul className="flex flex-col gap-1 text-sm">
        {run.sends.map(({ delivery_id: id, send, attempt, outcome, at_ms: at, response_status: status, cause }) => (
          <li key={`${id} ${attempt}`} className="flex flex-wrap items-center gap-3">
            <State state={outcome} /> {send} {text.attempt(attempt)} <Time ms={at} /> {status ?? ""}
            {cause !== null && <span className="min-w-0 text-bad">{cause}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}
