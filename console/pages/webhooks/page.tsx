import { useNavigate } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import type { Webhook } from "../../../client/generated/operations.ts";
import { api, useList, useMatching } from "../../api/queries.ts";
import { activationActions } from "../../parts/bulk/activation.ts";
import { BulkActions } from "../../parts/bulk/bulk-actions.tsx";
import { useSelection } from "../../parts/bulk/use-selection.ts";
import { useSearchParams } from "../../parts/search.ts";
import { useCanWrite, useOwnerQuery } from "../../parts/session-context.tsx";
import { Button, TextLink } from "../../parts/button.tsx";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { HealthState } from "../../parts/health.tsx";
import { metricsColumns } from "../../parts/metrics/sparkline.tsx";
import { useMetricsOf } from "../../parts/metrics/use-metrics-of.ts";
import { EmptyState } from "../../parts/notices.tsx";
import { Page } from "../../parts/page.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { Time } from "../../parts/time.tsx";
import { NewWebhook } from "./new-webhook.tsx";
import { text } from "./strings.ts";

const refreshMs = 10_000;

const columns: readonly Column<Webhook>[] = [
  {
    title: text.name,
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
  { title: text.created, parts: 2, isSecondary: true, cell: ({ created_at: at }) => <Time ms={at * 1_000} /> },
];

const bulkActions = activationActions<Webhook>({
  setActive: ({ id }, active) => api.call("updateWebhook", { path: { id }, body: { active } }),
  remove: ({ id }) => api.call("deleteWebhook", { path: { id } }),
});
const keyOf = ({ id }: Webhook): string => id;
const nameOf = ({ name, url }: Webhook): string => name ?? url;

export function WebhooksPage() {
  const [{ q = "" }, setSearch] = useSearchParams();
  const [isOpen, setIsOpen] = useState(false);
  const navigate = useNavigate();
  const all = useList("listMyWebhooks", { query: useOwnerQuery() }, { everyMs: refreshMs });
  const search = useCallback((value: string) => setSearch({ q: value }, { replaces: true }), [setSearch]);
  const list = useMatching(all, ({ name, url }) => `${name ?? ""} ${url}`.toLowerCase().includes(q.toLowerCase()));
  const selection = useSelection(list.items, keyOf);
  const canWrite = useCanWrite();
  const metrics = useMetricsOf(list.items.map(({ id }) => id));
  return (
    <Page
      title={text.title}
      actions={
        <Button kind="primary" onClick={() => setIsOpen(true)}>
          {text.create}
        </Button>
      }
    >
      <SearchField label={text.search} value={q} onChange={search} />
      <BulkActions selection={selection} actions={bulkActions} nameOf={nameOf} warning={text.deleteWarning} />
      <DataTable
        label={text.title}
        columns={[...columns, ...metricsColumns<Webhook>(metrics)]}
        list={list}
        keyOf={keyOf}
        selects={canWrite ? { selection, nameOf } : undefined}
        onOpen={({ id }) => void navigate({ to: "/webhooks/$id", params: { id } as never })}
        empty={
          <EmptyState title={q === "" ? text.empty : text.noMatch}>
            <p className="text-sm text-muted">{text.emptyHint}</p>
          </EmptyState>
        }
      />
      {isOpen && <NewWebhook onClose={() => setIsOpen(false)} />}
    </Page>
  );
}
