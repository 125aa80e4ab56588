import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Workflow } from "../../../client/generated/operations.ts";
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
import { NewWorkflow } from "./new-workflow.tsx";
import { text } from "./strings.ts";

const stateFacet: Facet<Workflow["state"]> = { name: "state", label: text.state, any: text.anyState, options: text.states };
const triggerFacet: Facet<keyof typeof text.triggerTypes> = {
  name: "trigger",
  label: text.triggers,
  any: text.anyTrigger,
  options: text.triggerTypes,
};
const facets = [stateFacet, triggerFacet];
const refreshMs = 15_000;

const columns: readonly Column<Workflow>[] = [
  {
    title: text.name,
    sortsBy: "name",
    parts: 3,
    cell: ({ id, name }) => (
      <TextLink to="/workflows/$id" params={{ id } as never}>
        <bdi>{name}</bdi>
      </TextLink>
    ),
  },
  {
    title: text.state,
    parts: 2,
    cell: (workflow) => <HealthState item={workflow} {...(workflow.state === "paused" ? { label: text.states.paused } : {})} />,
  },
  { title: text.triggers, parts: 2, isSecondary: true, cell: ({ triggers }) => triggers.map(({ type }) => type).join(", ") },
  { title: text.steps, isSecondary: true, cell: ({ steps }) => steps.length },
  { title: text.changed, sortsBy: "updated_at", parts: 2, isSecondary: true, cell: ({ updated_at: at }) => <Time ms={at * 1_000} /> },
];

const bulkActions = activationActions<Workflow>({
  setActive: ({ id }, active) => api.call("updateWorkflow", { path: { workflow_id: id }, body: { active } }),
  remove: ({ id }) => api.call("deleteWorkflow", { path: { workflow_id: id } }),
  labels: text.activation,
});
const keyOf = ({ id }: Workflow): string => id;
const nameOf = ({ name }: Workflow): string => name;

export function WorkflowsPage() {
  const [isOpen, setIsOpen] = useState(false);
  const state = useListState("workflows", facets);
  const owner = useOwnerQuery();
  const navigate = useNavigate();
  const chosen = { state: state.valueOf(stateFacet), trigger: state.valueOf(triggerFacet) };
  const query = { ...owner, q: state.q, sort: apiSort(state.sort), ...chosen };
  const list = useList("listMyWorkflows", { query }, { everyMs: refreshMs, keyOf });
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
        columns={[...columns, ...metricsColumns<Workflow>(metrics, range)]}
        list={list}
        keyOf={keyOf}
        sorting={state}
        isCompact={isCompact}
        selects={canWrite ? { selection, nameOf } : undefined}
        onOpen={({ id }) => void navigate({ to: "/workflows/$id", params: { id } as never })}
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
      {isOpen && <NewWorkflow onClose={() => setIsOpen(false)} />}
    </Page>
  );
}
