import { useState, type FormEvent, type ReactNode } from "react";
import { ApiError } from "../../client/errors.ts";
import { setAdminToken, useAdminRead, useHasAdminToken } from "../api/admin.ts";
import { Button } from "./button.tsx";
import { TextField } from "./field.tsx";
import { EmptyState, ErrorNotice, Loading } from "./notices.tsx";
import { Section } from "./page.tsx";

const text = {
  title: "For operators of the installation",
  token: "Admin token",
  hint: "It stays in this tab, and is asked for again after a reload.",
  action: "Continue",
  wrong: "The admin token was refused",
  failed: "The installation did not respond as expected",
  off: "The admin API is off",
  offHint: "Set HEADWATER_ADMIN_TOKEN_FILE, or api.adminApi in the chart, and start the API again.",
  forget: "Forget the token",
} as const;

/** Asks for the admin token before it shows what needs it. */
export function AdminGate({ children }: { readonly children: ReactNode }) {
  const hasToken = useHasAdminToken();
  const status = useAdminRead("adminGetStatus", {});
  // A server that is in trouble says so on the pages, which have the runbooks, too.
  const trouble = status.error instanceof ApiError && status.error.status >= 500 ? status.error : undefined;
  if (hasToken && (status.data !== undefined || trouble !== undefined))
    return (
      <>
        {trouble !== undefined && <ErrorNotice title={text.failed} error={trouble} retry={() => void status.refetch()} />}
        {children}
        <div>
          <Button kind="quiet" onClick={() => setAdminToken("")}>
            {text.forget}
          </Button>
        </div>
      </>
    );
  const isOff = status.error instanceof ApiError && status.error.status === 404;
  if (hasToken && isOff)
    return (
      <EmptyState title={text.off}>
        <p className="text-sm text-muted">{text.offHint}</p>
      </EmptyState>
    );
  return (
    <>
      {hasToken && status.error === null ? <Loading /> : <TokenForm />}
      {hasToken && status.error !== null && (
        <ErrorNotice
          title={status.error instanceof ApiError && status.error.status === 401 ? text.wrong : text.failed}
          error={status.error}
          retry={() => void status.refetch()}
        />
      )}
    </>
  );
}

function TokenForm() {
  const [typed, setTyped] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setAdminToken("");
    setAdminToken(typed.trim());
  };
  return (
    <Section title={text.title}>
      <form onSubmit={submit} className="flex max-w-md flex-col gap-4">
        <TextField
          label={text.token}
          hint={text.hint}
          type="password"
          required
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <Button type="submit" kind="primary" className="self-start">
          {text.action}
        </Button>
      </form>
    </Section>
  );
}
