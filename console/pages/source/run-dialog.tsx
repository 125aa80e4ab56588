import { useState } from "react";
import type { Source } from "../../../client/generated/operations.ts";
import { useChange, useRead } from "../../api/queries.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { EventForm } from "../../parts/event-form.tsx";
import { Checkbox, SelectField } from "../../parts/field.tsx";
import { DryRunResult } from "../../parts/dry-run/result.tsx";
import { clip } from "../../parts/format.ts";
import { text } from "./strings.ts";

interface RunDialogProps {
  readonly source: Source;
  readonly onClose: () => void;
  /** Shows a stored run. */
  readonly onShow: (run: string) => void;
}

/** Runs the source now, with an event that can be a past one that was edited; or as a dry run, which stores nothing. */
export function RunDialog({ source, onClose, onShow }: RunDialogProps) {
  const [typed, setTyped] = useState("");
  const [isDryRun, setIsDryRun] = useState(false);
  const past = useRead("listEvents", { path: { id: source.id }, query: { limit: 20, expand: "event" } });
  const run = useChange("runSource", {
    onDone: ({ data }) => {
      if ("dry_run" in data) return;
      onClose();
      onShow(data.id);
    },
  });
  const start = (event: unknown): void =>
    run.mutate({
      path: { id: source.id },
      body: { ...(event === undefined ? {} : { event }), ...(isDryRun ? { dry_run: true } : {}) },
    });
  const events = past.data?.data ?? [];
  const result = run.data?.data;
  return (
    <Dialog title={text.runNow} isOpen onClose={onClose} isWide>
      <EventForm
        hint={text.runEventHint}
        typed={typed}
        onType={setTyped}
        onSubmit={start}
        isPending={run.isPending}
        error={run.error}
        above={
          events.length > 0 && (
            <SelectField
              label={text.pastEvent}
              options={[
                ["", text.noPastEvent],
                ...events.map(({ id, metadata }) => [id, clip(`${id} ${metadata.summary ?? ""}`, 80)] as const),
              ]}
              onChange={(event) => {
                const chosen = events.find(({ id }) => id === event.target.value);
                setTyped(chosen === undefined ? "" : JSON.stringify(chosen.event, null, 2));
              }}
            />
          )
        }
      >
        <Checkbox label={text.dryRun} checked={isDryRun} onChange={(event) => setIsDryRun(event.target.checked)} />
      </EventForm>
      {result !== undefined && "dry_run" in result && <DryRunResult label={text.dryRunResult} run={result} />}
    </Dialog>
  );
}
