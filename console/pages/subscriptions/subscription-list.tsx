import type { Subscription } from "../../../client/generated/operations.ts";
import { useList, useMatching } from "../../api/queries.ts";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { Button, TextLink } from "../../parts/button.tsx";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/notices.tsx";
import { pageOf, useNames } from "./names.ts";
import { text } from "./strings.ts";
import { useUnsubscribe } from "./use-unsubscribe.ts";

interface SubscriptionListProps {
  /** Only those of this listener. */
  readonly listener?: string;
  readonly empty: string;
  readonly emptyHint: string;
}

const refreshMs = 10_000;

/** Subscriptions as a table. */
export function SubscriptionList({ listener, empty, emptyHint }: SubscriptionListProps) {
  const all = useList("listMySubscriptions", { query: useOwnerQuery() }, { everyMs: refreshMs });
  const names = useNames();
  const remove = useUnsubscribe();
  const list = useMatching(all, ({ listener_id: id }) => listener === undefined || id === listener);
  const nameOf = (id: string | null): string => (id === null ? "–" : (names.get(id) ?? id));
  const columns: readonly Column<Subscription>[] = [
    { title: text.emitter, parts: 3, cell: ({ emitter_id: id }) => <Resource id={id} name={nameOf(id)} /> },
    ...(listener === undefined
      ? [{ title: text.listener, parts: 3, cell: ({ listener_id: id }: Subscription) => <Resource id={id} name={nameOf(id)} /> }]
      : []),
    { title: text.channel, parts: 2, isSecondary: true, cell: ({ event_name: channel }) => <bdi>{channel || text.defaultChannel}</bdi> },
    {
      title: text.remove,
      parts: 2,
      cell: (subscription) => (
        <Button
          kind="quiet"
          aria-label={text.removeOf(nameOf(subscription.emitter_id), nameOf(subscription.listener_id))}
          onClick={() => remove(subscription)}
        >
          {text.remove}
        </Button>
      ),
    },
  ];
  return (
    <DataTable
      label={text.title}
      columns={columns}
      list={list}
      keyOf={({ id }) => id}
      empty={
        <EmptyState title={empty}>
          <p className="text-sm text-muted">{emptyHint}</p>
        </EmptyState>
      }
    />
  );
}

function Resource({ id, name }: { readonly id: string | null; readonly name: string }) {
  const page = id === null ? undefined : pageOf(id);
  if (page === undefined) return <bdi>{name}</bdi>;
  return (
    <TextLink to={page} params={{ id } as never}>
      <bdi>{name}</bdi>
    </TextLink>
  );
}
