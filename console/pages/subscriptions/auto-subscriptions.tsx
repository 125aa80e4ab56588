import { useState, type FormEvent } from "react";
import type { AutoSubscription } from "../../../client/generated/operations.ts";
import { useChange, useList } from "../../api/queries.ts";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { showFailure, showToast } from "../../parts/toasts.tsx";
import { Button } from "../../parts/button.tsx";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { EmptyState, ErrorNotice } from "../../parts/notices.tsx";
import { Section } from "../../parts/page.tsx";
import { useNames } from "./names.ts";
import { text } from "./strings.ts";

const channels = ["$errors", "$logs"] as const;
type Channel = (typeof channels)[number];

/** Subscriptions to the errors or logs of all sources and workflows. */
export function AutoSubscriptions() {
  const query = useOwnerQuery();
  const list = useList("listMyAutoSubscriptions", { query });
  const names = useNames();
  const remove = useChange("unsubscribeFromAll", { invalidates: ["listMyAutoSubscriptions"], onDone: () => showToast(text.removed) });
  const columns: readonly Column<AutoSubscription>[] = [
    { title: text.channel, parts: 2, cell: ({ event_name: channel }) => channel ?? "" },
    { title: text.listener, parts: 3, cell: ({ listener_id: id }) => <bdi>{id === null ? "" : (names.get(id) ?? id)}</bdi> },
    {
      title: text.remove,
      parts: 2,
      cell: ({ event_name: channel, listener_id: listener }) => (
        <Button
          kind="quiet"
          disabled={channel === null || listener === null}
          onClick={() => {
            if (channel === null || listener === null) return;
            remove.mutate(
              { query: { ...query, event_name: channel, listener_id: listener } },
              { onError: (error) => showFailure(text.removeFailed, error) },
            );
          }}
        >
          {text.remove}
        </Button>
      ),
    },
  ];
  return (
    <>
      <p className="text-sm text-muted">{text.autoHint}</p>
      <DataTable label={text.tabs.auto} columns={columns} list={list} keyOf={({ id }) => id} empty={<EmptyState title={text.noAuto} />} />
      <Section title={text.add}>
        <NewAutoSubscription />
      </Section>
    </>
  );
}

function NewAutoSubscription() {
  const [channel, setChannel] = useState<Channel>("$errors");
  const [listener, setListener] = useState("");
  const query = useOwnerQuery();
  const add = useChange("subscribeToAll", {
    invalidates: ["listMyAutoSubscriptions"],
    onDone: () => {
      showToast(text.subscribed);
      setListener("");
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    add.mutate({ query, body: { event_name: channel, listener_id: listener.trim() } });
  };
  return (
    <form onSubmit={submit} className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,14rem),1fr))] items-start gap-3">
      <SelectField
        label={text.channelLabel}
        value={channel}
        options={channels.map((each) => [each, each])}
        onChange={(event) => setChannel(channels.find((each) => each === event.target.value) ?? "$errors")}
      />
      <TextField
        label={text.listenerLabel}
        hint={text.listenerHint}
        required
        value={listener}
        onChange={(event) => setListener(event.target.value)}
      />
      <Button type="submit" kind="primary" className="self-center justify-self-start" disabled={add.isPending}>
        {text.subscribe}
      </Button>
      {add.error !== null && <ErrorNotice title={text.subscribeFailed} error={add.error} />}
    </form>
  );
}
