import { useEffect, useState } from "react";
import type { Account, ConnectableApp, StartedConnection } from "../../../client/generated/operations.ts";
import { useChange, useList, useRead } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorNotice, Loading } from "../../parts/notices.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { showToast } from "../../parts/toasts.tsx";
import { text } from "./strings.ts";

const pollMs = 1_500;

interface ConnectProps {
  /** To be connected again; undefined: a new one. */
  readonly account: Pick<Account, "id" | "name"> | undefined;
  readonly onClose: () => void;
}

/** Connects an account by signing in at the service, in another tab. */
export function ConnectDialog({ account, onClose }: ConnectProps) {
  const query = useOwnerQuery();
  const [started, setStarted] = useState<StartedConnection>();
  const begun = ({ data }: { readonly data: StartedConnection }): void => {
    setStarted(data);
    window.open(data.url, "_blank", "noopener");
  };
  const connect = useChange("connectApp", { invalidates: [], onDone: begun });
  const reconnect = useChange("reconnectAccount", { invalidates: [], onDone: begun });
  const error = connect.error ?? reconnect.error;
  return (
    <Dialog title={account === undefined ? text.connect : `${text.reconnect}: ${account.name}`} isOpen onClose={onClose}>
      <div className="flex flex-col gap-4">
        {error !== null && <ErrorNotice title={text.notConnected} error={error} />}
        {started !== undefined ? (
          <Waiting started={started} onClose={onClose} />
        ) : account === undefined ? (
          <Apps onChoose={({ name_slug: slug }) => connect.mutate({ query, path: { slug }, body: {} })} isPending={connect.isPending} />
        ) : (
          <Button
            kind="primary"
            className="self-start"
            disabled={reconnect.isPending}
            onClick={() => reconnect.mutate({ path: { id: account.id }, body: {} })}
          >
            {text.reconnect}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

function Apps({ onChoose, isPending }: { readonly onChoose: (app: ConnectableApp) => void; readonly isPending: boolean }) {
  const [search, setSearch] = useState("");
  const { items, isLoading } = useList("listApps", { query: { ...useOwnerQuery(), q: search, kind: "oauth2" } }, { pageItems: 20 });
  return (
    <>
      <p className="text-sm text-muted">{text.connectHint}</p>
      <SearchField label={text.search} value={search} onChange={setSearch} />
      {isLoading && <Loading />}
      {!isLoading && items.length === 0 && <p>{text.noApps}</p>}
      <ul className="flex max-h-96 flex-col gap-2 overflow-y-auto">
        {items.map((app) => (
          <li key={app.id} className="flex items-center justify-between gap-4">
            <span className="min-w-0">
              <bdi>{app.name}</bdi>
              {!app.has_client && <span className="block text-sm text-muted">{text.noClient}</span>}
            </span>
            <Button disabled={!app.has_client || isPending} onClick={() => onChoose(app)}>
              {text.connectApp(app.name)}
            </Button>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Shows how the connection ends, and closes the dialog when the account is there. */
function Waiting({ started, onClose }: { readonly started: StartedConnection; readonly onClose: () => void }) {
  const { data } = useRead("getConnection", { path: { id: started.connection_id } }, { everyMs: pollMs });
  const connection = data?.data;
  const { status, missing_scopes: missing = [] } = connection ?? {};
  const isConnected = status === "connected";
  const note = missing.length === 0 ? text.connected : text.missingScopes(missing.join(", "));
  useEffect(() => {
    if (!isConnected) return;
    showToast(note);
    onClose();
  }, [isConnected, note, onClose]);
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
