import { useNavigate } from "@tanstack/react-router";
import { useState, type FormEvent } from "react";
import { useChange } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { TextArea } from "../../parts/field.tsx";
import { ErrorNotice } from "../../parts/notices.tsx";
import { text } from "./strings.ts";

interface RunAgainProps {
  readonly of: { readonly source: string } | { readonly workflow: string; readonly run: string };
  /** The event of the run; undefined: it is not stored. */
  readonly event: unknown;
  readonly onClose: () => void;
}

/** Opens the trace of a new run. */
export function useShowRun(): (id: string) => void {
  const navigate = useNavigate();
  return (id) => void navigate({ to: "/traces/$id", params: { id } as never }); // Cannot fail: the page exists.
}

/** Starts a new run with the event of an earlier one, edited. */
export function RunAgainDialog({ of, event, onClose }: RunAgainProps) {
  const [typed, setTyped] = useState(event === undefined ? "" : JSON.stringify(event, null, 2));
  const [isInvalid, setIsInvalid] = useState(false);
  const show = useShowRun();
  const onDone = ({ data }: { readonly data: object }): void => {
    onClose();
    if ("id" in data && typeof data.id === "string") show(data.id);
  };
  const source = useChange("runSource", { onDone });
  const workflow = useChange("repeatWorkflowRun", { onDone });
  const submit = (submitted: FormEvent): void => {
    submitted.preventDefault();
    try {
      const body = { event: JSON.parse(typed) as unknown };
      setIsInvalid(false);
      if ("source" in of) source.mutate({ path: { id: of.source }, body });
      else workflow.mutate({ path: { workflow_id: of.workflow, run_id: of.run }, body });
    } catch {
      setIsInvalid(true);
    }
  };
  const isPending = source.isPending || workflow.isPending;
  const error = source.error ?? workflow.error;
  return (
    <Dialog title={text.edit} isOpen onClose={onClose} isWide>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextArea
          label={text.event}
          hint={text.editHint}
          error={isInvalid ? text.invalidJson : undefined}
          rows={12}
          value={typed}
          onChange={(changed) => setTyped(changed.target.value)}
        />
        {error !== null && <ErrorNotice title={text.runFailed} error={error} />}
        <Button kind="primary" type="submit" className="self-start" disabled={isPending}>
          {isPending ? text.starting : text.start}
        </Button>
      </form>
    </Dialog>
  );
}
