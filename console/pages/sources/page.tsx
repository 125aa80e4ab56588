import { useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import type { Source } from "../../../client/generated/operations.ts";
import { api, useList } from "../../api/queries.ts";
import { activationActions } from "../../parts/bulk/activation.ts";
import { BulkActions } from "../../parts/bulk/bulk-actions.tsx";
import { useSelection } from "../../parts/bulk/use-selection.ts";
import { useSearchParams } from "../../parts/search.ts";
import { useCanWrite, useOwnerQuery } from "../../parts/session-context.tsx";
import { Button, ButtonLink, TextLink } from "../../parts/button.tsx";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { inputLook } from "../../parts/field.tsx";
import { formatCount } from "../../parts/format.ts";
import { metricsColumns } from "../../parts/metrics/sparkline.tsx";
import { useMetricsOf } from "../../parts/metrics/use-metrics-of.ts";
import { EmptyState } from "../../parts/notices.tsx";
import { Page } from "../../parts/page.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { State } from "../../parts/state.tsx";
import { Time } from "../../parts/time.tsx";
import { text } from "./strings.ts";

type SourceState = Source["state"];
const states = Object.keys(text.states) as readonly SourceState[];
const refreshMs = 10_000;

const columns: readonly Column<Source>[] = [
  {
    title: text.name,
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
  const [{ q = "", state = "" }, setSearch] = useSearchParams();
  const owner = useOwnerQuery();
  const navigate = useNavigate();
  const chosen = states.find((each) => each === state);
  const filters = { ...(q === "" ? {} : { q }), ...(chosen === undefined ? {} : { state: chosen }) };
  const list = useList("listMySources", { query: { ...owner, ...filters } }, { everyMs: refreshMs });
  const metrics = useMetricsOf(list.items.map(({ id }) => id));
  const selection = useSelection(list.items, keyOf);
  const canWrite = useCanWrite();
  const search = useCallback((value: string) => setSearch({ q: value }, { replaces: true }), [setSearch]);
  const isFiltered = Object.keys(filters).length > 0;
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
      <div className="flex flex-wrap gap-2">
        <SearchField label={text.search} value={q} onChange={search} />
        <select
          aria-label={text.state}
          value={state}
          onChange={(event) => setSearch({ state: event.target.value })}
          className={`${inputLook} max-w-40`}
        >
          <option value="">{text.anyState}</option>
          {states.map((each) => (
            <option key={each} value={each}>
              {text.states[each]}
            </option>
          ))}
        </select>
      </div>
      <BulkActions selection={selection} actions={bulkActions} nameOf={nameOf} warning={text.deleteWarning} />
      <DataTable
        label={text.title}
        columns={[...columns, ...metricsColumns<Source>(metrics)]}
        list={list}
        keyOf={keyOf}
        selects={canWrite ? { selection, nameOf } : undefined}
        onOpen={({ id }) => void navigate({ to: "/sources/$id", params: { id } as never })}
        empty={
          isFiltered ? (
            <EmptyState title={text.noMatch}>
              <p className="text-sm text-muted">{text.noMatchHint}</p>
              <Button onClick={() => setSearch({ q: undefined, state: undefined })}>{text.clear}</Button>
            </EmptyState>
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
