import type { DataStore, DataStoreEntry } from "../../../client/generated/operations.ts";
import { useState } from "react";
import { useChange, useRead } from "../../api/queries.ts";
import { DeleteButton } from "../../parts/delete-button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { clip, formatBytes } from "../../parts/format.ts";
import { ErrorNotice, Loaded, Loading } from "../../parts/notices.tsx";
import { Time } from "../../parts/time.tsx";
import { showToast } from "../../parts/toasts.tsx";
import { text } from "./strings.ts";

const shownCharacters = 10_000;

/** The first keys of a store; a click shows the beginning of a value. */
export function KeysDialog({ store, onClose }: { readonly store: DataStore; readonly onClose: () => void }) {
  const list = useRead("listDataStoreEntries", { path: { id: store.id }, query: { limit: 100, values: false } });
  const entries = list.data?.data ?? [];
  const hasMore = (list.data?.page_info.total_count ?? 0) > entries.length;
  return (
    <Dialog title={store.name} isOpen onClose={onClose}>
      <p className="text-sm text-muted">
        {text.id}: <code>{store.id}</code>
      </p>
      <Loaded isLoading={list.isPending} error={list.error} retry={() => void list.refetch()}>
        {entries.length === 0 ? (
          <p className="text-sm text-muted">{text.noKeys}</p>
        ) : (
          <ul aria-label={text.keys} className="flex flex-col gap-2">
            {entries.map((entry) => (
              <EntryRow key={entry.key} store={store.id} entry={entry} />
            ))}
          </ul>
        )}
        {hasMore && <p className="text-xs text-muted">{text.more}</p>}
      </Loaded>
    </Dialog>
  );
}

function EntryRow({ store, entry }: { readonly store: string; readonly entry: DataStoreEntry }) {
  const { key, bytes, expires_at: expires } = entry;
  const [isOpen, setIsOpen] = useState(false);
  const remove = useChange("deleteDataStoreEntry", {
    invalidates: ["listDataStoreEntries", "listDataStores"],
    onDone: () => showToast(text.deleted(key)),
  });
  return (
    <li className="flex min-w-0 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line pb-2 text-sm">
      <button
        type="button"
        aria-expanded={isOpen}
        className="min-w-0 flex-1 basis-32 truncate text-left font-mono text-accent hover:underline"
        onClick={() => setIsOpen(!isOpen)}
      >
        <bdi>{key}</bdi>
      </button>
      <span className="text-muted">{formatBytes(bytes)}</span>
      {expires !== null && (
        <span className="text-muted">
          {text.expires} <Time ms={Date.parse(expires)} />
        </span>
      )}
      <DeleteButton
        label={text.delete}
        name={key}
        action={text.delete}
        isPending={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate({ path: { id: store, key } })}
      >
        {text.deleteKeyText}
      </DeleteButton>
      {isOpen && <EntryValue store={store} name={key} />}
    </li>
  );
}

function EntryValue({ store, name }: { readonly store: string; readonly name: string }) {
  const { data, error } = useRead("getDataStoreEntry", { path: { id: store, key: name } });
  if (error !== null) return <ErrorNotice error={error} />;
  if (data === undefined) return <Loading />;
  return (
    <pre className="w-full break-all whitespace-pre-wrap text-muted">{clip(JSON.stringify(data.data.value, null, 2), shownCharacters)}</pre>
  );
}
