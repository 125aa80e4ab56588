import { useState, type FormEvent } from "react";
import { useChange } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { ErrorNotice } from "../../parts/notices.tsx";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { showToast } from "../../parts/toasts.tsx";
import { text } from "./strings.ts";

export function CreateDialog({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const query = useOwnerQuery();
  const create = useChange("createDataStore", {
    invalidates: ["listDataStores"],
    onDone: () => {
      showToast(text.created(name));
      onClose();
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate({ query, body: { name, ...(description === "" ? {} : { description }) } });
  };
  return (
    <Dialog title={text.create} isOpen onClose={onClose}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextField label={text.name} required maxLength={255} value={name} onChange={(event) => setName(event.target.value)} />
        <TextField
          label={text.description}
          maxLength={2_000}
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
        {create.error !== null && <ErrorNotice title={text.failed} error={create.error} />}
        <Button kind="primary" type="submit" className="self-start" disabled={create.isPending}>
          {text.save}
        </Button>
      </form>
    </Dialog>
  );
}
