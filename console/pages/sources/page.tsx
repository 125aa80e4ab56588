import { useNavigate } from "@tanstack/react-router";
import type { Source } from "../../../client/generated/operations.ts";
import { api, shownItems, useList } from "../../api/queries.ts";
import { activationActions } from "../../parts/bulk/activation.ts";
import { BulkActions } from "../../parts/bulk/bulk-actions.tsx";
import { useSelection } from "../../parts/bulk/use-selection.ts";
import { useCanWrite, useOwnerQuery } from "../../parts/session-context.tsx";
import { ButtonLink, TextLink } from "../../parts/button.tsx";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { formatCount } from "../../parts/format.ts";
import { ListControls, useIsCompact } from "../../parts/list/list-controls.tsx";
import { useListState, type Facet } from "../../parts/list/list-state.ts";
import { NoMatch } from "../../parts/list/no-match.tsx";
import { apiSort } from "../../parts/list/order.ts";
import { useRange } from "../../parts/metrics/range.tsx";
import { metricsColumns } from "../../parts/metrics/sparkline.tsx";
import { useMetricsOf } from "../../parts/metrics/use-metrics-of.ts";
import { EmptyState } from "../../parts/notices.tsx";
import { Page } from "../../parts/page.tsx";
import { State } from "../../parts/state.tsx";
import { Time } from "../../parts/time.tsx";
import { text } from "./strings.ts";

const stateFacet: Facet<Source["state"]> = { name: "state", label: text.state, any: text.anyState, options: text.states };
const triggerFacet: Facet<keyof typeof text.triggers> = {
  name: "trigger",
  label: text.trigger,
  any: text.anyTrigger,
  options: text.triggers,
};
const facets = [stateFacet, triggerFacet];
const refreshMs = 10_000;

const columns: readonly Column<Source>[] = [
  {
    title: text.name,
    sortsBy: "name",
    parts: 3,
    cell: ({ id, name }) => (
      <TextLink to="/sources/$id" params={{ id } as never}>
        <bdi>{name}</bdi>
      </TextLink>
    ),
  },
  {
    title: text.state,
    parts: 2,
    cell: ({ state, problem }) => <span title={problem?.message}>{<State state={state} label={text.states[state]} />}</span>,
  },
  {
    title: text.lastRun,
    parts: 2,
    isSecondary: true,
    cell: ({ last_run_at: at }) => (at === null ? text.never : <Time ms={at * 1_000} />),
  },
  {
    title: text.nextTick,
    parts: 2,
    isSecondary: true,
    cell: ({ next_tick_at: at }) => (at === null ? text.none : <Time ms={at * 1_000} />),
  },
  { title: text.backlog, isSecondary: true, cell: ({ backlog }) => (backlog === null ? text.none : formatCount(backlog)) },
];

const bulkActions = activationActions<Source>({
  setActive: ({ id }, active) => api.call("updateSource", { path: { id }, body: { active } }),
  remove: ({ id }) => api.call("deleteSource", { path: { id } }),
});
const keyOf = ({ id }: Source): string => id;
const nameOf = ({ name }: Source): string => name;

export function SourcesPage() {
  const state = useListState("sources", facets);
  const owner = useOwnerQuery();
  const navigate = useNavigate();
  const chosen = { state: state.valueOf(stateFacet), trigger: state.valueOf(triggerFacet) };
  const query = { ...owner, q: state.q, sort: apiSort(state.sort), ...chosen };
  const list = useList("listMySources", { query }, { everyMs: refreshMs, keyOf });
  const { name: range } = useRange();
  const metrics = useMetricsOf(list.items, range);
  const selection = useSelection(shownItems(list), keyOf, query);
  const canWrite = useCanWrite();
  const isCompact = useIsCompact();
  return (
    <Page
      title={text.title}
      note={list.total !== undefined && <span className="text-sm text-muted">{text.count(formatCount(list.total))}</span>}
      actions={
        <ButtonLink kind="primary" to="/sources/new">
          {text.create}
        </ButtonLink>
      }
    >
      <ListControls state={state} searchLabel={text.search} range={range} />
      <BulkActions selection={selection} actions={bulkActions} nameOf={nameOf} warning={text.deleteWarning} />
      <DataTable
        label={text.title}
        columns={[...columns, ...metricsColumns<Source>(metrics, range)]}
        list={list}
        keyOf={keyOf}
        sorting={state}
        isCompact={isCompact}
        selects={canWrite ? { selection, nameOf } : undefined}
        onOpen={({ id }) => void navigate({ to: "/sources/$id", params: { id } as never })}
        empty={
          state.isFiltered ? (
            <NoMatch title={text.noMatch} clear={text.clear} state={state} />
          ) : (
            <EmptyState title={text.empty}>
              <p className="text-sm text-muted">{text.emptyHint}</p>
              <ButtonLink kind="primary" to="/sources/new">
                {text.create}
              </ButtonLink>
            </EmptyState>
          )
        }
      />
    </Page>
  );
}
