import { useState } from "react";
import { useChange } from "../../api/queries.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { EventForm } from "../../parts/event-form.tsx";
import { useOpenTrace } from "../../parts/trace-link.tsx";
import { text } from "./strings.ts";

interface RunAgainProps {
  readonly of: { readonly source: string } | { readonly workflow: string; readonly run: string };
  /** The event of the run; undefined: it is not stored. */
  readonly event: unknown;
  readonly onClose: () => void;
}

/** Starts a new run with the event of an earlier one, edited. */
export function RunAgainDialog({ of, event, onClose }: RunAgainProps) {
  const [typed, setTyped] = useState(event === undefined ? "" : JSON.stringify(event, null, 2));
  const show = useOpenTrace();
  const onDone = ({ data }: { readonly data: object }): void => {
    onClose();
    if ("id" in data && typeof data.id === "string") show(data.id);
  };
  const source = useChange("runSource", { onDone });
  const workflow = useChange("repeatWorkflowRun", { onDone });
  const start = (typedEvent: unknown): void => {
    const body = { event: typedEvent };
    if ("source" in of) source.mutate({ path: { id: of.source }, body });
    else workflow.mutate({ path: { workflow_id: of.workflow, run_id: of.run }, body });
  };
  return (
    <Dialog title={text.edit} isOpen onClose={onClose} isWide>
      <EventForm
        hint={text.editHint}
        typed={typed}
        onType={setTyped}
        rows={12}
        isRequired
        onSubmit={start}
        isPending={source.isPending || workflow.isPending}
        error={source.error ?? workflow.error}
      />
    </Dialog>
  );
}
