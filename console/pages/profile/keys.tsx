import { useState, type FormEvent } from "react";
import type { Key } from "../../../client/generated/operations.ts";
import { useChange, useRead } from "../../api/queries.ts";
import { showToast } from "../../parts/toasts.tsx";
import { Button } from "../../parts/button.tsx";
import { DeleteButton } from "../../parts/delete-button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { ErrorNotice, Loaded } from "../../parts/notices.tsx";
import { Section } from "../../parts/page.tsx";
import { SecretOnce } from "../../parts/secret-once.tsx";
import { Time } from "../../parts/time.tsx";
import { text } from "./strings.ts";

const daySeconds = 86_400;

export function Keys() {
  const [isOpen, setIsOpen] = useState(false);
  const keys = useRead("listKeys", {});
  return (
    <Section title={text.keys} actions={<Button onClick={() => setIsOpen(true)}>{text.create}</Button>}>
      <p className="text-sm text-muted">{text.keysHint}</p>
      <Loaded isLoading={keys.isPending} error={keys.error} retry={() => void keys.refetch()}>
        <ul className="flex flex-col gap-3">
          {keys.data?.data.map((key) => (
            <KeyRow key={key.id} apiKey={key} />
          ))}
        </ul>
      </Loaded>
      {isOpen && <NewKey onClose={() => setIsOpen(false)} />}
    </Section>
  );
}

function KeyRow({ apiKey }: { readonly apiKey: Key }) {
  const { id, name, prefix, scopes, created_at: created, last_used_at: used, expires_at: expires } = apiKey;
  const revoke = useChange("revokeKey", { invalidates: ["listKeys"], onDone: () => showToast(text.revoked(name)) });
  return (
    <li className="flex min-w-0 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line pb-3 text-sm">
      <bdi className="min-w-0 flex-1 basis-40 font-medium">{name}</bdi>
      <code className="font-mono text-xs">{prefix}…</code>
      <span>{scopes.includes("write") ? text.write : text.read}</span>
      <span className="text-muted">
        {text.created} <Time ms={created * 1_000} />
      </span>
      <span className="text-muted">
        {text.lastUsed} {used === null ? text.never : <Time ms={used * 1_000} />}
      </span>
      <span className="text-muted">
        {text.expires} {expires === null ? text.never : <Time ms={expires * 1_000} />}
      </span>
      <DeleteButton
        label={text.revoke}
        name={name}
        action={text.revoke}
        isPending={revoke.isPending}
        error={revoke.error}
        onConfirm={() => revoke.mutate({ path: { id } })}
      >
        {text.revokeText}
      </DeleteButton>
    </li>
  );
}

function NewKey({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const [rights, setRights] = useState("write");
  const [days, setDays] = useState("");
  const create = useChange("createKey", { invalidates: ["listKeys"] });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const expires = days === "" ? {} : { expires_at: Math.floor(Date.now() / 1_000) + Number(days) * daySeconds };
    create.mutate({ body: { name, scopes: rights === "write" ? ["read", "write"] : ["read"], ...expires } });
  };
  const made = create.data?.data.key;
  return (
    <Dialog title={text.create} isOpen onClose={onClose}>
      {made !== undefined ? (
        <SecretOnce note={text.newKey} label={text.keys} secret={made} />
      ) : (
        <form onSubmit={submit} className="flex flex-col gap-4">
          <TextField label={text.name} required maxLength={255} value={name} onChange={(event) => setName(event.target.value)} />
          <SelectField
            label={text.rights}
            value={rights}
            options={[
              ["write", text.write],
              ["read", text.read],
            ]}
            onChange={(event) => setRights(event.target.value)}
          />
          <SelectField
            label={text.expiry}
            value={days}
            options={Object.entries(text.expiries)}
            onChange={(event) => setDays(event.target.value)}
          />
          {create.error !== null && <ErrorNotice title={text.createFailed} error={create.error} />}
          <Button kind="primary" type="submit" className="self-start" disabled={create.isPending}>
            {text.createAction}
          </Button>
        </form>
      )}
    </Dialog>
  );
}
