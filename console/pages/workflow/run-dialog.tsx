import { useState, type FormEvent } from "react";
import type { Workflow } from "../../../client/generated/operations.ts";
import { useChange } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { TextArea } from "../../parts/field.tsx";
import { ErrorNotice } from "../../parts/notices.tsx";
import { text } from "./strings.ts";

interface RunDialogProps {
  readonly workflow: Workflow;
  readonly onClose: () => void;
  readonly onShow: (run: string) => void;
}

/** Runs the workflow with an event. */
export function RunDialog({ workflow, onClose, onShow }: RunDialogProps) {
  const [typed, setTyped] = useState("");
  const [isInvalid, setIsInvalid] = useState(false);
  const run = useChange("runWorkflow", {
    onDone: ({ data }) => {
      onClose();
      onShow(data.id);
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    try {
      const body = typed.trim() === "" ? {} : { event: JSON.parse(typed) as unknown };
      setIsInvalid(false);
      run.mutate({ path: { workflow_id: workflow.id }, body });
    } catch {
      setIsInvalid(true);
    }
  };
  return (
    <Dialog title={text.runNow} isOpen onClose={onClose}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextArea
          label={text.testEvent}
          hint={text.testEventHint}
          error={isInvalid ? text.invalidJson : undefined}
          rows={8}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        {run.error !== null && <ErrorNotice title={text.runFailed} error={run.error} />}
        <Button kind="primary" type="submit" className="self-start" disabled={run.isPending}>
          {run.isPending ? text.starting : text.start}
        </Button>
      </form>
    </Dialog>
  );
}
