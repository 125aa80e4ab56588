import { useState } from "react";
import type { Workflow } from "../../../client/generated/operations.ts";
import { useChange } from "../../api/queries.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { EventForm } from "../../parts/event-form.tsx";
import { text } from "./strings.ts";

interface RunDialogProps {
  readonly workflow: Workflow;
  readonly onClose: () => void;
  readonly onShow: (run: string) => void;
}

/** Runs the workflow with an event. */
export function RunDialog({ workflow, onClose, onShow }: RunDialogProps) {
  const [typed, setTyped] = useState("");
  const run = useChange("runWorkflow", {
    onDone: ({ data }) => {
      onClose();
      onShow(data.id);
    },
  });
  const start = (event: unknown): void => run.mutate({ path: { workflow_id: workflow.id }, body: event === undefined ? {} : { event } });
  return (
    <Dialog title={text.runNow} isOpen onClose={onClose}>
      <EventForm hint={text.testEventHint} typed={typed} onType={setTyped} onSubmit={start} isPending={run.isPending} error={run.error} />
    </Dialog>
  );
}
