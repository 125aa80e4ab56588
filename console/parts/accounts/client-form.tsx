import { useState, type FormEvent } from "react";
import { useChange } from "../../api/queries.ts";
import { Button } from "../button.tsx";
import { TextField } from "../field.tsx";
import { ErrorNotice } from "../notices.tsx";
import { fieldErrorsOf } from "../problems.ts";
import { useOwnerQuery } from "../session-context.tsx";
import { text } from "./strings.ts";

type ClientFormProps = { readonly hasClient: boolean; readonly label: string; readonly onConnected: (account: string) => void } & (
  | { readonly app: string; readonly account?: undefined }
  | { readonly app?: undefined; readonly account: string }
);

/** Connects an account that gets tokens with the id and secret of a client: a new one, or one again. */
export function ClientForm({ app, account, hasClient, label, onConnected }: ClientFormProps) {
  const [{ name, id, secret }, setFields] = useState({ name: "", id: "", secret: "" });
  const query = useOwnerQuery();
  const changed = {
    invalidates: ["listMyAccounts"] as const,
    onDone: ({ data }: { readonly data: { readonly id: string } }) => onConnected(data.id),
  };
  const create = useChange("createAccount", changed);
  const update = useChange("updateAccount", changed);
  const error = create.error ?? update.error;
  const errors = fieldErrorsOf(error);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    event.stopPropagation(); // The form may be within the one of a source.
    const client = { ...(id === "" ? {} : { client_id: id }), ...(secret === "" ? {} : { client_secret: secret }) };
    if (account !== undefined) update.mutate({ path: { id: account }, body: { client_credentials: client } });
    else create.mutate({ query, body: { app, ...(name === "" ? {} : { name }), client_credentials: client } });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      {app !== undefined && (
        <TextField
          label={text.name}
          value={name}
          error={errors["name"]}
          maxLength={255}
          onChange={(event) => setFields({ name: event.target.value, id, secret })}
        />
      )}
      <TextField
        label={text.clientId}
        hint={hasClient ? text.clientIdHint : undefined}
        autoComplete="off"
        required={!hasClient && account === undefined}
        error={errors["client_credentials.client_id"]}
        value={id}
        onChange={(event) => setFields({ name, id: event.target.value, secret })}
      />
      <TextField
        label={text.clientSecret}
        type="password"
        autoComplete="new-password"
        required={!hasClient || id !== ""}
        error={errors["client_credentials.client_secret"]}
        value={secret}
        onChange={(event) => setFields({ name, id, secret: event.target.value })}
      />
      {error !== null && <ErrorNotice title={text.notConnected} error={error} />}
      <Button kind="primary" type="submit" className="self-start" disabled={create.isPending || update.isPending}>
        {label}
      </Button>
    </form>
  );
}
