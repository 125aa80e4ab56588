import { useNavigate } from "@tanstack/react-router";
import { useState, type FormEvent } from "react";
import type { Workflow } from "../../../client/generated/operations.ts";
import { useChange, useList } from "../../api/queries.ts";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { Button, TextLink } from "../../parts/button.tsx";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { HealthState } from "../../parts/health.tsx";
import { EmptyState, ErrorNotice } from "../../parts/notices.tsx";
import { Page } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { exampleStep, text } from "./strings.ts";

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

export function WorkflowsPage() {
  const [isOpen, setIsOpen] = useState(false);
  const navigate = useNavigate();
  const list = useList("listMyWorkflows", { query: useOwnerQuery() }, { everyMs: refreshMs });
  return (
    <Page
      title={text.title}
      actions={
        <Button kind="primary" onClick={() => setIsOpen(true)}>
          {text.create}
        </Button>
      }
    >
      <DataTable
        label={text.title}
        columns={columns}
        list={list}
        keyOf={({ id }) => id}
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

const triggers = { http: [{ type: "http" }], timer: [{ type: "timer", interval_seconds: 3_600 }], none: [] } as const;
type TriggerKind = keyof typeof triggers;

function NewWorkflow({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const [kind, setKind] = useState<TriggerKind>("http");
  const query = useOwnerQuery();
  const navigate = useNavigate();
  const create = useChange("createWorkflow", {
    invalidates: ["listMyWorkflows"],
    onDone: ({ data }) => void navigate({ to: "/workflows/$id", params: { id: data.id } as never }), // Cannot fail.
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate({ query, body: { name, triggers: triggers[kind], steps: [{ name: "first", component_code: exampleStep }] } });
  };
  return (
    <Dialog title={text.create} isOpen onClose={onClose}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextField label={text.name} required maxLength={255} value={name} onChange={(event) => setName(event.target.value)} />
        <SelectField
          label={text.trigger}
          value={kind}
          options={Object.entries(text.triggerKinds)}
          onChange={(event) => setKind(event.target.value as TriggerKind)} // One of the options.
        />
        {create.error !== null && <ErrorNotice title={text.createFailed} error={create.error} />}
        <Button kind="primary" type="submit" className="self-start" disabled={create.isPending}>
          {text.createAction}
        </Button>
      </form>
    </Dialog>
  );
}
