import { useNavigate } from "@tanstack/react-router";
import { useState, type FormEvent } from "react";
import type { Webhook } from "../../../client/generated/operations.ts";
import { useChange } from "../../api/queries.ts";
import { showFailure, showToast } from "../../parts/toasts.tsx";
import { Button } from "../../parts/button.tsx";
import { DeleteButton } from "../../parts/delete-button.tsx";
import { Checkbox, TextField } from "../../parts/field.tsx";
import { ErrorNotice } from "../../parts/notices.tsx";
import { Section } from "../../parts/page.tsx";
import { fieldErrorsOf } from "../../parts/problems.ts";
import { SecretOnce } from "../../parts/secret-once.tsx";
import { Time } from "../../parts/time.tsx";
import { text } from "./strings.ts";

export function SettingsTab({ webhook }: { readonly webhook: Webhook }) {
  return (
    <>
      <Fields webhook={webhook} />
      <SigningKey webhook={webhook} />
      <Delete webhook={webhook} />
    </>
  );
}

function Fields({ webhook }: { readonly webhook: Webhook }) {
  const [url, setUrl] = useState(webhook.url);
  const [name, setName] = useState(webhook.name ?? "");
  const [description, setDescription] = useState(webhook.description ?? "");
  const [isOrdered, setIsOrdered] = useState(webhook.ordered);
  const update = useChange("updateWebhook", { onDone: () => showToast(text.saved) });
  const errors = fieldErrorsOf(update.error);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    update.mutate({ path: { id: webhook.id }, body: { url, name: name || null, description: description || null, ordered: isOrdered } });
  };
  return (
    <Section title={text.tabs.settings}>
      <form onSubmit={submit} className="flex max-w-2xl flex-col gap-4">
        <TextField
          label={text.url}
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
        <TextField label={text.description} value={description} onChange={(event) => setDescription(event.target.value)} />
        <Checkbox label={text.orderedLabel} checked={isOrdered} onChange={(event) => setIsOrdered(event.target.checked)} />
        {update.error !== null && <ErrorNotice title={text.saveFailed} error={update.error} />}
        <Button kind="primary" type="submit" className="self-start" disabled={update.isPending}>
          {text.save}
        </Button>
      </form>
    </Section>
  );
}

function SigningKey({ webhook }: { readonly webhook: Webhook }) {
  const path = { id: webhook.id };
  const onError = (error: Error): void => showFailure(text.keyFailed, error);
  const rotate = useChange("rotateSigningKey", { invalidates: [] });
  const end = useChange("endPreviousKey", { invalidates: [], onDone: () => showToast(text.ended) });
  const rotated = rotate.data?.data;
  return (
    <Section title={text.key}>
      <p className="text-sm text-muted">{text.keyHint}</p>
      {rotated?.signing_key !== undefined && <SecretOnce note={text.newKey} label={text.key} secret={rotated.signing_key} />}
      {rotated !== undefined && rotated.previous_key_until !== null && (
        <p className="text-sm">
          {text.previousUntil} <Time ms={rotated.previous_key_until * 1_000} />
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        <Button disabled={rotate.isPending} onClick={() => rotate.mutate({ path }, { onError })}>
          {text.rotate}
        </Button>
        <Button kind="danger" disabled={end.isPending} onClick={() => end.mutate({ path }, { onError })}>
          {text.endPrevious}
        </Button>
      </div>
    </Section>
  );
}

function Delete({ webhook }: { readonly webhook: Webhook }) {
  const navigate = useNavigate();
  const name = webhook.name ?? webhook.url;
  const remove = useChange("deleteWebhook", {
    invalidates: ["listMyWebhooks"],
    onDone: () => {
      showToast(text.deleted(name));
      void navigate({ to: "/webhooks" }); // Cannot fail.
    },
  });
  return (
    <Section title={text.deleteAction}>
      <p className="text-sm text-muted">{text.deleteText}</p>
      <div>
        <DeleteButton
          label={text.delete}
          name={name}
          action={text.deleteAction}
          isPending={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate({ path: { id: webhook.id } })}
        >
          {text.deleteText}
        </DeleteButton>
      </div>
    </Section>
  );
}
