import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Account, ConnectableApp, StartedConnection } from "../../../client/generated/operations.ts";
import { useChange, useList, useRead } from "../../api/queries.ts";
import { Button } from "../button.tsx";
import { Dialog } from "../dialog.tsx";
import { Mark } from "../marks/mark.tsx";
import { ErrorNotice, Loading } from "../notices.tsx";
import { SearchField } from "../search-field.tsx";
import { useOwnerQuery } from "../session-context.tsx";
import { showToast } from "../toasts.tsx";
import { ClientForm } from "./client-form.tsx";
import { ServicePage } from "./service-page.tsx";
import { text } from "./strings.ts";

const pollMs = 1_500;

interface ConnectProps {
  /** To be connected again; undefined: a new one. */
  readonly account: Pick<Account, "id" | "name" | "grant_type" | "connection"> | undefined;
  readonly onClose: () => void;
}

/** Connects an account by signing in at the service, in another tab. */
export function ConnectDialog({ account, onClose }: ConnectProps) {
  const [app, setApp] = useState<ConnectableApp>();
  return (
    <Dialog title={account === undefined ? text.connect : `${text.reconnect}: ${account.name}`} isOpen onClose={onClose}>
      {account?.grant_type === "client_credentials" ? (
        <ClientForm account={account.id} hasClient={account.connection !== null} label={text.reconnect} onConnected={onClose} />
      ) : account !== undefined ? (
        <SignIn account={account.id} label={text.reconnect} onConnected={onClose} />
      ) : app === undefined ? (
        <Apps onChoose={setApp} />
      ) : isOfClient(app) ? (
        <ClientForm app={app.name_slug} hasClient={app.has_client} label={text.connectApp(app.name)} onConnected={onClose} />
      ) : (
        <SignIn app={app.name_slug} startsAtOnce label={text.connectApp(app.name_slug)} onConnected={onClose} />
      )}
    </Dialog>
  );
}

const isOfClient = ({ oauth }: ConnectableApp): boolean => oauth?.grant === "client_credentials";

type SignInProps = { readonly label: string; readonly startsAtOnce?: boolean; readonly onConnected: (account: string) => void } & (
  | { readonly app: string; readonly account?: undefined }
  | { readonly app?: undefined; readonly account: string }
);

/** Opens the page of the service, and waits until the person comes back. */
export function SignIn({ app, account, label, startsAtOnce = false, onConnected }: SignInProps) {
  const query = useOwnerQuery();
  const [started, setStarted] = useState<StartedConnection>();
  const begun = ({ data }: { readonly data: StartedConnection }): void => {
    setStarted(data);
    window.open(data.url, "_blank", "noopener");
  };
  const connect = useChange("connectApp", { invalidates: [], onDone: begun });
  const reconnect = useChange("reconnectAccount", { invalidates: [], onDone: begun });
  const error = connect.error ?? reconnect.error;
  const isPending = connect.isPending || reconnect.isPending;
  const start = (): void =>
    account === undefined
      ? connect.mutate({ query, path: { slug: app }, body: {} })
      : reconnect.mutate({ path: { id: account }, body: {} });
  useEffect(() => {
    if (startsAtOnce) start();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- Once: the choice of the app was the click.
  }, []);
  return (
    <div className="flex flex-col gap-4">
      {error !== null && <ErrorNotice title={text.notConnected} error={error} />}
      {started !== undefined ? (
        <Waiting started={started} onConnected={onConnected} />
      ) : (
        <Button kind="primary" className="self-start" disabled={isPending} onClick={start}>
          {label}
        </Button>
      )}
    </div>
  );
}

function Apps({ onChoose }: { readonly onChoose: (app: ConnectableApp) => void }) {
  const [search, setSearch] = useState("");
  const { items, isLoading } = useList("listApps", { query: { ...useOwnerQuery(), q: search, kind: "oauth2" } }, { pageItems: 20 });
  return (
    <div className="flex flex-col gap-4">
      <p className="text-sm text-muted">{text.connectHint}</p>
      <SearchField label={text.search} value={search} onChange={setSearch} />
      {isLoading && <Loading />}
      {!isLoading && items.length === 0 && <p>{text.noApps}</p>}
      <ul className="flex max-h-96 flex-col gap-2 overflow-y-auto">
        {items.map((app) => (
          <li key={app.id} className="flex items-center gap-3">
            <Mark app={app.name_slug} name={app.name} />
            <span className="min-w-0 flex-1">
              <bdi>{app.name}</bdi>
              {!app.has_client && !isOfClient(app) && (
                <span className="block text-sm text-muted">
                  {text.noClient}
                  <ServicePage url={app.documentation_url} label={text.registerClient} />
                </span>
              )}
            </span>
            <Button disabled={!app.has_client && !isOfClient(app)} onClick={() => onChoose(app)}>
              {text.connectApp(app.name)}
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Shows how the connection ends. */
function Waiting({ started, onConnected }: { readonly started: StartedConnection; readonly onConnected: (account: string) => void }) {
  const { data } = useRead("getConnection", { path: { id: started.connection_id } }, { everyMs: pollMs });
  const client = useQueryClient();
  const connection = data?.data;
  const { missing_scopes: missing = [], account_id: account } = connection ?? {};
  const note = missing.length === 0 ? text.connected : text.missingScopes(missing.join(", "));
  useEffect(() => {
    if (typeof account !== "string") return;
    showToast(note);
    void client.invalidateQueries({ queryKey: ["listMyAccounts"] }); // Never rejects.
    onConnected(account);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- Once, when the account is there.
  }, [account]);
  if (connection?.problem !== undefined && connection.problem !== null)
    return (
      <p role="alert">
        {text.notConnected}: {connection.problem.message}
      </p>
    );
  return (
    <>
      <p>{text.connecting}</p>
      <a className="text-accent hover:underline" href={started.url} target="_blank" rel="noopener noreferrer">
        {text.openAgain}
      </a>
    </>
  );
}
