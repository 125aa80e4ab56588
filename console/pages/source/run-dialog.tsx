import { useState, type FormEvent } from "react";
import type { Source } from "../../../client/generated/operations.ts";
import { useChange, useRead } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Checkbox, SelectField, TextArea } from "../../parts/field.tsx";
import { DryRunResult } from "../../parts/dry-run/result.tsx";
import { ErrorNotice } from "../../parts/notices.tsx";
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
  const [isInvalid, setIsInvalid] = useState(false);
  const past = useRead("listEvents", { path: { id: source.id }, query: { limit: 20, expand: "event" } });
  const run = useChange("runSource", {
    onDone: ({ data }) => {
      if ("dry_run" in data) return;
      onClose();
      onShow(data.id);
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    try {
      const given: unknown = typed.trim() === "" ? undefined : JSON.parse(typed);
      setIsInvalid(false);
      run.mutate({
        path: { id: source.id },
        body: { ...(given === undefined ? {} : { event: given }), ...(isDryRun ? { dry_run: true } : {}) },
      });
    } catch {
      setIsInvalid(true);
    }
  };
  const events = past.data?.data ?? [];
  const result = run.data?.data;
  return (
    <Dialog title={text.runNow} isOpen onClose={onClose} isWide>
      <form onSubmit={submit} className="flex flex-col gap-4">
        {events.length > 0 && (
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
        )}
        <TextArea
          label={text.runEvent}
          hint={text.runEventHint}
          error={isInvalid ? text.invalidJson : undefined}
          rows={8}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <Checkbox label={text.dryRun} checked={isDryRun} onChange={(event) => setIsDryRun(event.target.checked)} />
        {run.error !== null && <ErrorNotice title={text.runFailed} error={run.error} />}
        <Button kind="primary" type="submit" className="self-start" disabled={run.isPending}>
          {run.isPending ? text.running : text.start}
        </Button>
      </form>
      {result !== undefined && "dry_run" in result && <DryRunResult label={text.dryRunResult} run={result} />}
    </Dialog>
  );
}
