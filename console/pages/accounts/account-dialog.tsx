import { useState, type FormEvent } from "react";
import type { Account } from "../../../client/generated/operations.ts";
import { useChange } from "../../api/queries.ts";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { showToast } from "../../parts/toasts.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { TextArea, TextField } from "../../parts/field.tsx";
import { ErrorNotice } from "../../parts/notices.tsx";
import { fieldErrorsOf } from "../../parts/problems.ts";
import { parseCredentials } from "../../parts/accounts/credentials.ts";
import { text } from "./strings.ts";
import { Uses } from "./uses.tsx";

const oauthFields = [
  ["token_url", text.tokenUrl, "url"],
  ["client_id", text.clientId, "text"],
  ["client_secret", text.clientSecret, "password"],
  ["refresh_token", text.refreshToken, "password"],
] as const;

/** Creates an account, or changes its name and credentials. Stored credentials are never shown. */
export function AccountDialog({ account, onClose }: { readonly account: Account | undefined; readonly onClose: () => void }) {
  const [app, setApp] = useState("");
  const [name, setName] = useState(account?.name ?? "");
  const [lines, setLines] = useState("");
  const [oauth, setOauth] = useState<Readonly<Record<string, string>>>({});
  const query = useOwnerQuery();
  const done = (message: string) => () => {
    showToast(message);
    onClose();
  };
  const create = useChange("createAccount", { invalidates: ["listMyAccounts"], onDone: done(text.created) });
  const update = useChange("updateAccount", { invalidates: ["listMyAccounts"], onDone: done(text.saved) });
  const credentials = parseCredentials(lines);
  const error = create.error ?? update.error;
  const errors = fieldErrorsOf(error);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (credentials === undefined) return;
    const given = {
      name,
      ...(Object.keys(credentials).length === 0 ? {} : { credentials }),
      ...(Object.values(oauth).every((value) => value === "") ? {} : { oauth: oauth as never }), // The API says which of them are missing.
    };
    if (account === undefined) create.mutate({ query, body: { app, ...given } });
    else update.mutate({ path: { id: account.id }, body: given });
  };
  return (
    <Dialog title={account?.name ?? text.create} isOpen onClose={onClose}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        {account !== undefined && <Uses account={account.id} />}
        {account === undefined && (
          <TextField
            label={text.app}
            hint={text.appHint}
            required
            error={errors["app"]}
            value={app}
            onChange={(event) => setApp(event.target.value)}
          />
        )}
        <TextField
          label={text.name}
          value={name}
          error={errors["name"]}
          maxLength={255}
          onChange={(event) => setName(event.target.value)}
        />
        <TextArea
          label={text.credentials}
          hint={account === undefined ? text.credentialsHint : `${text.credentialsHint} ${text.credentialsKept}`}
          error={credentials === undefined ? text.invalidCredentials : undefined}
          value={lines}
          onChange={(event) => setLines(event.target.value)}
        />
        <OauthFields values={oauth} errors={errors} onChange={setOauth} />
        {error !== null && <ErrorNotice title={text.failed} error={error} />}
        <Button kind="primary" type="submit" className="self-start" disabled={create.isPending || update.isPending}>
          {text.save}
        </Button>
      </form>
    </Dialog>
  );
}

interface OauthProps {
  readonly values: Readonly<Record<string, string>>;
  readonly errors: Readonly<Record<string, string>>;
  readonly onChange: (values: Readonly<Record<string, string>>) => void;
}

/** How Headwater refreshes the access token. */
function OauthFields({ values, errors, onChange }: OauthProps) {
  return (
    <details>
      <summary className="text-sm font-medium">{text.oauth}</summary>
      <div className="mt-3 flex flex-col gap-3">
        {oauthFields.map(([field, label, type]) => (
          <TextField
            key={field}
            label={label}
            type={type}
            autoComplete={type === "password" ? "new-password" : "off"}
            error={errors[`oauth.${field}`]}
            value={values[field] ?? ""}
            onChange={(event) => onChange({ ...values, [field]: event.target.value })}
          />
        ))}
      </div>
    </details>
  );
}
