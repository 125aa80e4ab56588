import { useState, type FormEvent } from "react";
import type { Source } from "../../../client/generated/operations.ts";
import { useChange } from "../../api/queries.ts";
import { showToast } from "../../parts/toasts.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { ErrorNotice } from "../../parts/notices.tsx";
import { text } from "./strings.ts";

/** Delivers a range of stored events again. */
export function ReplayDialog({ source, onClose }: { readonly source: Source; readonly onClose: () => void }) {
  const [from, setFrom] = useState("");
  const [until, setUntil] = useState("");
  const [listener, setListener] = useState("");
  const replay = useChange("replayEvents", {
    onDone: ({ data }) => {
      showToast(text.replayStarted(data.events));
      onClose();
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const body = { start_id: from.trim() || null, end_id: until.trim() || null, listener_id: listener.trim() || null };
    replay.mutate({ path: { id: source.id }, body });
  };
  return (
    <Dialog title={text.replay} isOpen onClose={onClose}>
      <p className="text-sm text-muted">{text.replayText}</p>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextField label={text.from} hint={text.rangeHint} value={from} onChange={(event) => setFrom(event.target.value)} />
        <TextField label={text.to} hint={text.rangeHint} value={until} onChange={(event) => setUntil(event.target.value)} />
        <TextField label={text.listener} hint={text.listenerHint} value={listener} onChange={(event) => setListener(event.target.value)} />
        {replay.error !== null && <ErrorNotice title={text.replayFailed} error={replay.error} />}
        <Button kind="primary" type="submit" className="self-start" disabled={replay.isPending}>
          {text.replayStart}
        </Button>
      </form>
    </Dialog>
  );
}
