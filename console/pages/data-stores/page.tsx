import { useState } from "react";
import type { DataStore } from "../../../client/generated/operations.ts";
import { useChange, useRead } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { DeleteButton } from "../../parts/delete-button.tsx";
import { formatBytes } from "../../parts/format.ts";
import { EmptyState, Loaded } from "../../parts/notices.tsx";
import { Page } from "../../parts/page.tsx";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { Time } from "../../parts/time.tsx";
import { showToast } from "../../parts/toasts.tsx";
import { CreateDialog } from "./create-dialog.tsx";
import { KeysDialog } from "./keys-dialog.tsx";
import { text } from "./strings.ts";

export function DataStoresPage() {
  const [shown, setShown] = useState<DataStore | "new">();
  const list = useRead("listDataStores", { query: { ...useOwnerQuery(), limit: 100 } });
  const stores = list.data?.data ?? [];
  const close = (): void => setShown(undefined);
  return (
    <Page
      title={text.title}
      actions={
        <Button kind="primary" onClick={() => setShown("new")}>
          {text.create}
        </Button>
      }
    >
      <Loaded isLoading={list.isPending} error={list.error} retry={() => void list.refetch()}>
        {stores.length === 0 ? (
          <EmptyState title={text.empty}>
            <p className="text-sm text-muted">{text.emptyHint}</p>
          </EmptyState>
        ) : (
          <ul aria-label={text.title} className="flex flex-col gap-3">
            {stores.map((store) => (
              <StoreRow key={store.id} store={store} onOpen={() => setShown(store)} />
            ))}
          </ul>
        )}
      </Loaded>
      {shown === "new" ? <CreateDialog onClose={close} /> : shown !== undefined && <KeysDialog store={shown} onClose={close} />}
    </Page>
  );
}

function StoreRow({ store, onOpen }: { readonly store: DataStore; readonly onOpen: () => void }) {
  const { id, name, description, entries, bytes, updated_at: changed } = store;
  const remove = useChange("deleteDataStore", { invalidates: ["listDataStores"], onDone: () => showToast(text.deleted(name)) });
  return (
    <li className="flex min-w-0 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line pb-3 text-sm">
      <button type="button" className="min-w-0 flex-1 basis-40 truncate text-left text-accent hover:underline" onClick={onOpen}>
        <bdi>{name}</bdi>
      </button>
      <bdi className="min-w-0 flex-1 basis-40 truncate text-muted">{description}</bdi>
      <span>{text.size(entries, formatBytes(bytes))}</span>
      <span className="text-muted">
        {text.changed} <Time ms={Date.parse(changed)} />
      </span>
      <DeleteButton
        label={text.delete}
        name={name}
        action={text.delete}
        isPending={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate({ path: { id } })}
      >
        {text.deleteText}
      </DeleteButton>
    </li>
  );
}
