import { useState, type FormEvent } from "react";
import type { DryRun, Source } from "../../../client/generated/operations.ts";
import { useChange, useRead } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Checkbox, SelectField, TextArea } from "../../parts/field.tsx";
import { LogLines } from "../../parts/log-lines.tsx";
import { ErrorNotice } from "../../parts/notices.tsx";
import { State } from "../../parts/state.tsx";
import { Tree } from "../../parts/tree.tsx";
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
      {result !== undefined && "dry_run" in result && <DryRunResult run={result} />}
    </Dialog>
  );
}

/** What a dry run would have stored. */
function DryRunResult({ run }: { readonly run: DryRun }) {
  return (
    <section aria-label={text.dryRunResult} className="flex min-w-0 flex-col gap-3 border-t border-line pt-4">
      <State state={run.status} />
      {run.error !== null && <ErrorNotice title={run.error.name} error={new Error(run.error.stack ?? run.error.message)} />}
      <h3 className="font-semibold">{text.wouldEmit}</h3>
      {run.emits.length === 0 && <p className="text-sm text-muted">{text.none}</p>}
      {run.emits.map((emit, index) => (
        <div key={index} className="rounded-md border border-line p-2">
          <p className="text-sm">{text.verdicts[emit.verdict]}</p>
          <Tree value={emit.event} />
        </div>
      ))}
      <h3 className="font-semibold">{text.wouldStore}</h3>
      {run.db_writes.length === 0 && <p className="text-sm text-muted">{text.none}</p>}
      {run.db_writes.map(({ prop, key, value, deleted }) => (
        <p key={`${prop} ${key}`} className="font-mono text-xs">
          {deleted === true ? (
            <del>{`${prop}.${key}`}</del>
          ) : (
            <ins className="no-underline">{`${prop}.${key} = ${clip(JSON.stringify(value) ?? "undefined", 1_000)}`}</ins>
          )}
        </p>
      ))}
      {run.response !== null && (
        <>
          <h3 className="font-semibold">{text.response}</h3>
          <Tree value={run.response} />
        </>
      )}
      {run.logs.length > 0 && <LogLines records={run.logs} />}
    </section>
  );
}
