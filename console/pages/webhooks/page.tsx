import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Webhook } from "../../../client/generated/operations.ts";
import { api, shownItems, useList } from "../../api/queries.ts";
import { activationActions } from "../../parts/bulk/activation.ts";
import { BulkActions } from "../../parts/bulk/bulk-actions.tsx";
import { useSelection } from "../../parts/bulk/use-selection.ts";
import { useCanWrite, useOwnerQuery } from "../../parts/session-context.tsx";
import { Button, TextLink } from "../../parts/button.tsx";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { formatCount } from "../../parts/format.ts";
import { HealthState } from "../../parts/health.tsx";
import { ListControls, useIsCompact } from "../../parts/list/list-controls.tsx";
import { useListState, type Facet } from "../../parts/list/list-state.ts";
import { NoMatch } from "../../parts/list/no-match.tsx";
import { apiSort } from "../../parts/list/order.ts";
import { useRange } from "../../parts/metrics/range.tsx";
import { metricsColumns } from "../../parts/metrics/sparkline.tsx";
import { useMetricsOf } from "../../parts/metrics/use-metrics-of.ts";
import { EmptyState } from "../../parts/notices.tsx";
import { Page } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { NewWebhook } from "./new-webhook.tsx";
import { text } from "./strings.ts";

const stateFacet: Facet<Webhook["state"]> = { name: "state", label: text.state, any: text.anyState, options: text.states };
const facets = [stateFacet];
const refreshMs = 10_000;

const columns: readonly Column<Webhook>[] = [
  {
    title: text.name,
    sortsBy: "name",
    parts: 3,
    cell: ({ id, name, url }) => (
      <TextLink to="/webhooks/$id" params={{ id } as never}>
        <bdi>{name ?? url}</bdi>
      </TextLink>
    ),
  },
  { title: text.url, parts: 4, isSecondary: true, cell: ({ url }) => <bdi>{url}</bdi> },
  {
    title: text.state,
    parts: 2,
    cell: (webhook) => <HealthState item={webhook} />,
  },
  { title: text.order, isSecondary: true, cell: ({ ordered }) => (ordered ? text.ordered : text.unordered) },
  { title: text.created, sortsBy: "created_at", parts: 2, isSecondary: true, cell: ({ created_at: at }) => <Time ms={at * 1_000} /> },
];

const bulkActions = activationActions<Webhook>({
  setActive: ({ id }, active) => api.call("updateWebhook", { path: { id }, body: { active } }),
  remove: ({ id }) => api.call("deleteWebhook", { path: { id } }),
});
const keyOf = ({ id }: Webhook): string => id;
const nameOf = ({ name, url }: Webhook): string => name ?? url;

export function WebhooksPage() {
  const state = useListState("webhooks", facets);
  const [isOpen, setIsOpen] = useState(false);
  const owner = useOwnerQuery();
  const navigate = useNavigate();
  const query = { ...owner, q: state.q, sort: apiSort(state.sort), state: state.valueOf(stateFacet) };
  const list = useList("listMyWebhooks", { query }, { everyMs: refreshMs, keyOf });
  const selection = useSelection(shownItems(list), keyOf, query);
  const canWrite = useCanWrite();
  const isCompact = useIsCompact();
  const { name: range } = useRange();
  const metrics = useMetricsOf(list.items, range);
  return (
    <Page
      title={text.title}
      note={list.total !== undefined && <span className="text-sm text-muted">{text.count(formatCount(list.total))}</span>}
      actions={
        <Button kind="primary" onClick={() => setIsOpen(true)}>
          {text.create}
        </Button>
      }
    >
      <ListControls state={state} searchLabel={text.search} range={range} />
      <BulkActions selection={selection} actions={bulkActions} nameOf={nameOf} warning={text.deleteWarning} />
      <DataTable
        label={text.title}
        columns={[...columns, ...metricsColumns<Webhook>(metrics, range)]}
        list={list}
        keyOf={keyOf}
        sorting={state}
        isCompact={isCompact}
        selects={canWrite ? { selection, nameOf } : undefined}
        onOpen={({ id }) => void navigate({ to: "/webhooks/$id", params: { id } as never })}
        empty={
          state.isFiltered ? (
            <NoMatch title={text.noMatch} clear={text.clear} state={state} />
          ) : (
            <EmptyState title={text.empty}>
              <p className="text-sm text-muted">{text.emptyHint}</p>
            </EmptyState>
          )
        }
      />
      {isOpen && <NewWebhook onClose={() => setIsOpen(false)} />}
    </Page>
  );
}
