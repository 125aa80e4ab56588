import { useState, type FormEvent } from "react";
import { useChange, useRead } from "../../api/queries.ts";
import { Button } from "../button.tsx";
import { Dialog } from "../dialog.tsx";
import { TextArea, TextField } from "../field.tsx";
import { ErrorNotice, Loading } from "../notices.tsx";
import { fieldErrorsOf } from "../problems.ts";
import { useOwnerQuery } from "../session-context.tsx";
import { ClientForm } from "./client-form.tsx";
import { SignIn } from "./connect-dialog.tsx";
import { parseCredentials } from "./credentials.ts";
import { ServicePage } from "./service-page.tsx";
import { text } from "./strings.ts";

interface AppProps {
  /** Slug of the app. */
  readonly app: string;
  readonly onConnected: (account: string) => void;
}

/** Connects an account of one app: by signing in there, or with the credentials that it takes. */
export function AppDialog({ app, onConnected, onClose }: AppProps & { readonly onClose: () => void }) {
  const { data, isPending } = useRead("getApp", { path: { slug: app }, query: useOwnerQuery() });
  const known = data?.data;
  return (
    <Dialog title={text.connectApp(known?.name ?? app)} isOpen onClose={onClose}>
      {isPending ? (
        <Loading />
      ) : known?.oauth?.grant === "client_credentials" ? (
        <ClientForm app={app} hasClient={known.has_client} label={text.connectApp(known.name)} onConnected={onConnected} />
      ) : known?.connectable === true ? (
        known.has_client ? (
          <SignIn app={app} label={text.connectApp(known.name)} onConnected={onConnected} />
        ) : (
          <p>
            {text.noClient}
            <ServicePage url={known.documentation_url} label={text.registerClient} />
          </p>
        )
      ) : (
        <>
          <ServicePage url={known?.documentation_url} label={text.findCredentials} />
          <KeysForm app={app} fields={known === undefined ? [] : fieldsOf(known.custom_fields_json)} onConnected={onConnected} />
        </>
      )}
    </Dialog>
  );
}

interface KeyField {
  readonly name: string;
  readonly label?: string;
  readonly description?: string;
  readonly optional?: boolean;
  readonly secret?: boolean;
}

const fieldsOf = (json: string): readonly KeyField[] => JSON.parse(json) as readonly KeyField[]; // As the API describes it.

/** Of an app that is not known, the fields are typed with their names. */
function KeysForm({ app, fields, onConnected }: AppProps & { readonly fields: readonly KeyField[] }) {
  const [name, setName] = useState("");
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [lines, setLines] = useState("");
  const query = useOwnerQuery();
  const create = useChange("createAccount", { invalidates: ["listMyAccounts"], onDone: ({ data }) => onConnected(data.id) });
  const credentials = fields.length === 0 ? parseCredentials(lines) : values;
  const errors = fieldErrorsOf(create.error);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    event.stopPropagation(); // The form may be within the one of a source.
    if (credentials !== undefined) create.mutate({ query, body: { app, ...(name === "" ? {} : { name }), credentials } });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <TextField label={text.name} value={name} error={errors["name"]} maxLength={255} onChange={(event) => setName(event.target.value)} />
      {fields.map((field) => (
        <TextField
          key={field.name}
          label={field.label ?? field.name}
          hint={field.description}
          type={field.secret === true ? "password" : "text"}
          autoComplete={field.secret === true ? "new-password" : "off"}
          required={field.optional !== true}
          error={errors[`credentials.${field.name}`]}
          value={values[field.name] ?? ""}
          onChange={(event) => setValues({ ...values, [field.name]: event.target.value })}
        />
      ))}
      {fields.length === 0 && (
        <TextArea
          label={text.credentials}
          hint={text.credentialsHint}
          error={credentials === undefined ? text.invalidCredentials : undefined}
          value={lines}
          onChange={(event) => setLines(event.target.value)}
        />
      )}
      {create.error !== null && <ErrorNotice title={text.notConnected} error={create.error} />}
      <Button kind="primary" type="submit" className="self-start" disabled={create.isPending}>
        {text.save}
      </Button>
    </form>
  );
}
