import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Workflow } from "../../../client/generated/operations.ts";
import { api, useList } from "../../api/queries.ts";
import { activationActions } from "../../parts/bulk/activation.ts";
import { BulkActions } from "../../parts/bulk/bulk-actions.tsx";
import { useSelection } from "../../parts/bulk/use-selection.ts";
import { useCanWrite, useOwnerQuery } from "../../parts/session-context.tsx";
import { Button, TextLink } from "../../parts/button.tsx";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { HealthState } from "../../parts/health.tsx";
import { metricsColumns } from "../../parts/metrics/sparkline.tsx";
import { useMetricsOf } from "../../parts/metrics/use-metrics-of.ts";
import { EmptyState } from "../../parts/notices.tsx";
import { Page } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { NewWorkflow } from "./new-workflow.tsx";
import { text } from "./strings.ts";

const refreshMs = 15_000;

const columns: readonly Column<Workflow>[] = [
  {
    title: text.name,
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
    cell: (workflow) => <HealthState item={workflow} {...(workflow.state === "paused" ? { label: text.inactive } : {})} />,
  },
  { title: text.triggers, parts: 2, isSecondary: true, cell: ({ triggers }) => triggers.map(({ type }) => type).join(", ") },
  { title: text.steps, isSecondary: true, cell: ({ steps }) => steps.length },
  { title: text.changed, parts: 2, isSecondary: true, cell: ({ updated_at: at }) => <Time ms={at * 1_000} /> },
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
  const navigate = useNavigate();
  const list = useList("listMyWorkflows", { query: useOwnerQuery() }, { everyMs: refreshMs });
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
      <BulkActions selection={selection} actions={bulkActions} nameOf={nameOf} warning={text.deleteWarning} />
      <DataTable
        label={text.title}
        columns={[...columns, ...metricsColumns<Workflow>(metrics)]}
        list={list}
        keyOf={keyOf}
        selects={canWrite ? { selection, nameOf } : undefined}
        onOpen={({ id }) => void navigate({ to: "/workflows/$id", params: { id } as never })}
        empty={
          <EmptyState title={text.empty}>
            <p className="text-sm text-muted">{text.emptyHint}</p>
          </EmptyState>
        }
      />
      {isOpen && <NewWorkflow onClose={() => setIsOpen(false)} />}
    </Page>
  );
}
