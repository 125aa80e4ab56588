import type { Arguments } from "../../../client/client.ts";
import { ApiError } from "../../../client/errors.ts";
import type { WorkflowRunDetails } from "../../../client/generated/operations.ts";
import { useChange } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { useCanWrite } from "../../parts/session-context.tsx";
import { showFailure } from "../../parts/toasts.tsx";
import { useOpenTrace } from "../../parts/trace-link.tsx";
import { text } from "./strings.ts";

const invalidates = ["getWorkflowRun", "listWorkflowRuns", "getTrace"] as const;

/** What can be asked of a run: to cancel, pause or resume it while it has not ended, then to repeat it. */
export function RunActions({ run }: { readonly run: WorkflowRunDetails }) {
  const onError = (error: Error): void => showFailure(text.changeFailed, error);
  const cancel = useChange("cancelWorkflowRun", { invalidates });
  const pause = useChange("pauseWorkflowRun", { invalidates });
  const resume = useChange("resumeWorkflowRun", { invalidates });
  const isBusy = cancel.isPending || pause.isPending || resume.isPending;
  if (!useCanWrite()) return null;
  if (run.ended_at_ms !== null) return <RepeatActions run={run} />;
  const path = { workflow_id: run.workflow_id, run_id: run.id };
  return (
    <div className="flex flex-wrap gap-2">
      {run.status === "suspended" ? (
        <Button kind="primary" disabled={isBusy} onClick={() => resume.mutate({ path, body: {} }, { onError })}>
          {run.reason === null ? text.approve : text.resumeRun}
        </Button>
      ) : (
        <Button disabled={isBusy} onClick={() => pause.mutate({ path, body: {} }, { onError })}>
          {text.pauseRun}
        </Button>
      )}
      <Button kind="danger" disabled={isBusy} onClick={() => cancel.mutate({ path, body: {} }, { onError })}>
        {text.cancelRun}
      </Button>
    </div>
  );
}

function RepeatActions({ run }: { readonly run: WorkflowRunDetails }) {
  const repeat = useRepeat(run);
  const first = run.steps[0]?.id;
  return (
    <div className="flex flex-wrap gap-2">
      {run.failed_step_id !== null && (
        <Button kind="primary" disabled={repeat.isPending} onClick={() => repeat.start(run.failed_step_id)}>
          {text.repeatFailed}
        </Button>
      )}
      <Button disabled={repeat.isPending} onClick={() => repeat.start(first ?? null)}>
        {text.repeatRun}
      </Button>
      <WithoutFiles {...repeat} />
    </div>
  );
}

/** Repeats an ended run from one of its steps. */
export function RepeatFrom({ run, step }: { readonly run: WorkflowRunDetails; readonly step: string }) {
  const repeat = useRepeat(run);
  if (!useCanWrite() || run.ended_at_ms === null) return null;
  return (
    <>
      <Button kind="quiet" disabled={repeat.isPending} onClick={() => repeat.start(step)}>
        {text.repeatFrom}
      </Button>
      <WithoutFiles {...repeat} />
    </>
  );
}

interface Repeat {
  readonly isPending: boolean;
  readonly start: (from: string | null) => void;
  /** Repeats once more what was refused because its files are deleted. */
  readonly startWithoutFiles: (() => void) | undefined;
}

function WithoutFiles({ isPending, startWithoutFiles }: Repeat) {
  if (startWithoutFiles === undefined) return null;
  return (
    <Button disabled={isPending} onClick={startWithoutFiles}>
      {text.repeatWithoutFiles}
    </Button>
  );
}

/** Starts the new run, and shows it. */
function useRepeat({ workflow_id: workflow, id }: WorkflowRunDetails): Repeat {
  const show = useOpenTrace();
  const repeat = useChange("repeatWorkflowRun", { invalidates, onDone: ({ data }) => show(data.id) });
  const start = (body: NonNullable<Arguments<"repeatWorkflowRun">["body"]>): void =>
    repeat.mutate({ path: { workflow_id: workflow, run_id: id }, body }, { onError: (error) => showFailure(text.runFailed, error) });
  const { variables, error } = repeat;
  const isRefused = error instanceof ApiError && error.code === "files_gone" && variables !== undefined;
  return {
    isPending: repeat.isPending,
    start: (from) => start(from === null ? {} : { from }),
    startWithoutFiles: isRefused ? () => start({ ...variables.body, without_files: true }) : undefined,
  };
}
