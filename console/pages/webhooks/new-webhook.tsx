import { useState, type FormEvent } from "react";
import { useChange } from "../../api/queries.ts";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Checkbox, TextField } from "../../parts/field.tsx";
import { ErrorNotice } from "../../parts/notices.tsx";
import { SecretOnce } from "../../parts/secret-once.tsx";
import { fieldErrorsOf } from "../../parts/problems.ts";
import { text } from "./strings.ts";

/** Creates a webhook, and shows its signing key once. */
export function NewWebhook({ onClose }: { readonly onClose: () => void }) {
  const [url, setUrl] = useState("");
  const [name, setName] = useState("");
  const [isOrdered, setIsOrdered] = useState(false);
  const query = useOwnerQuery();
  const create = useChange("createWebhook", { invalidates: ["listMyWebhooks"] });
  const errors = fieldErrorsOf(create.error);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate({ query, body: { url, ordered: isOrdered, ...(name === "" ? {} : { name }) } });
  };
  const created = create.data?.data;
  return (
    <Dialog title={text.create} isOpen onClose={onClose}>
      {created !== undefined ? (
        <>
          <SecretOnce note={text.key} label={text.keyLabel} secret={created.signing_key} />
          <ButtonLink to="/webhooks/$id" params={{ id: created.id } as never} kind="primary" className="self-start">
            {text.open}
          </ButtonLink>
        </>
      ) : (
        <form onSubmit={submit} className="flex flex-col gap-4">
          <TextField
            label={text.url}
            hint={text.urlHint}
            type="url"
            required
            error={errors["url"]}
            value={url}
            onChange={(event) => setUrl(event.target.value)}
          />
          <TextField
            label={text.name}
            maxLength={255}
            error={errors["name"]}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <Checkbox label={text.orderedLabel} checked={isOrdered} onChange={(event) => setIsOrdered(event.target.checked)} />
          {create.error !== null && <ErrorNotice title={text.createFailed} error={create.error} />}
          <Button kind="primary" type="submit" className="self-start" disabled={create.isPending}>
            {text.createAction}
          </Button>
        </form>
      )}
    </Dialog>
  );
}
