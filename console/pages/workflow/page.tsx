import { useNavigate, useParams } from "@tanstack/react-router";
import { useState, type FormEvent, type ReactNode } from "react";
import type { Workflow, WorkflowTrigger } from "../../../client/generated/operations.ts";
import { useChange, useRead } from "../../api/queries.ts";
import { useSearchParams } from "../../parts/search.ts";
import { useCanWrite } from "../../parts/session-context.tsx";
import { showFailure, showToast } from "../../parts/toasts.tsx";
import { Button, TextLink } from "../../parts/button.tsx";
import { CopyButton, Id } from "../../parts/copy-button.tsx";
import { DeleteButton } from "../../parts/delete-button.tsx";
import { TextField } from "../../parts/field.tsx";
import { HealthState, healthFacts, ProblemNotice } from "../../parts/health.tsx";
import { ErrorNotice, Loading } from "../../parts/notices.tsx";
import { Facts, Page, Section } from "../../parts/page.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { Time } from "../../parts/time.tsx";
import { ErrorsTab } from "./errors-tab.tsx";
import { EventsTab } from "./events-tab.tsx";
import { MetricsTab } from "./metrics-tab.tsx";
import { RunDialog } from "./run-dialog.tsx";
import { RunsTab } from "./runs-tab.tsx";
import { StepsTab } from "./steps-tab.tsx";
import { text } from "./strings.ts";

const refreshMs = 5_000;

const tabs: Readonly<Record<string, (props: { readonly workflow: Workflow }) => ReactNode>> = {
  steps: StepsTab,
  runs: RunsTab,
  events: EventsTab,
  metrics: MetricsTab,
  errors: ErrorsTab,
  settings: SettingsTab,
};

export function WorkflowPage() {
  const { id = "" } = useParams({ strict: false }) as { readonly id?: string }; // By the route.
  const workflow = useRead("getWorkflow", { path: { workflow_id: id } }, { everyMs: refreshMs });
  if (workflow.data === undefined)
    return workflow.error === null ? <Loading /> : <ErrorNotice title={text.notFound} error={workflow.error} />;
  return <LoadedWorkflow workflow={workflow.data.data} />;
}

function LoadedWorkflow({ workflow }: { readonly workflow: Workflow }) {
  const [{ tab = "steps" }] = useSearchParams();
  const View = tabs[tab] ?? StepsTab;
  return (
    <Page
      title={workflow.name}
      note={<HealthState item={workflow} {...(workflow.state === "paused" ? { label: text.inactive } : {})} />}
      actions={<Actions workflow={workflow} />}
    >
      <ProblemNotice item={workflow} />
      <Facts
        facts={[
          ["Id", <Id key="id" id={workflow.id} />],
          ...healthFacts(workflow),
          [text.version, workflow.deployment_id ?? "–"],
          [text.changed, <Time key="changed" ms={workflow.updated_at * 1_000} />],
          ...workflow.triggers.map((trigger) => [text.trigger[trigger.type], <Trigger key={trigger.id} trigger={trigger} />] as const),
        ]}
      />
      {workflow.triggers.length === 0 && <p className="text-sm text-muted">{text.noTriggers}</p>}
      <Tabs label={text.views} current={tab} tabs={Object.entries(text.tabs)} />
      <View key={workflow.id} workflow={workflow} />
    </Page>
  );
}

function Trigger({ trigger }: { readonly trigger: WorkflowTrigger }) {
  const { type, endpoint_url: url, address, cron, interval_seconds: seconds, source_id: source } = trigger;
  const copied = type === "http" ? url : type === "email" ? address : undefined;
  if (typeof copied === "string")
    return (
      <span className="inline-flex min-w-0 items-center gap-1">
        <code className="min-w-0 font-mono text-xs">{copied}</code>
        <CopyButton value={copied} label={text.trigger[type]} />
      </span>
    );
  if (type === "source" && typeof source === "string")
    return (
      <TextLink to="/sources/$id" params={{ id: source } as never}>
        {source}
      </TextLink>
    );
  return cron ?? (seconds === undefined ? type : `${seconds} s`);
}

function Actions({ workflow }: { readonly workflow: Workflow }) {
  const [isOpen, setIsOpen] = useState(false);
  const navigate = useNavigate();
  const update = useChange("updateWorkflow", { invalidates: ["getWorkflow", "listMyWorkflows"] });
  const setActive = (active: boolean): void => {
    update.mutate(
      { path: { workflow_id: workflow.id }, body: { active } },
      {
        onSuccess: () => showToast(active ? text.activated(workflow.name) : text.deactivated(workflow.name), () => setActive(!active)),
        onError: (error) => showFailure(text.changeFailed, error),
      },
    );
  };
  if (!useCanWrite()) return null;
  return (
    <>
      <Button kind="primary" onClick={() => setIsOpen(true)}>
        {text.runNow}
      </Button>
      <Button disabled={update.isPending} onClick={() => setActive(!workflow.active)}>
        {workflow.active ? text.deactivate : text.activate}
      </Button>
      {isOpen && (
        <RunDialog
          workflow={workflow}
          onClose={() => setIsOpen(false)}
          onShow={(run) => void navigate({ to: ".", search: { tab: "runs", run } as never })} // Cannot fail.
        />
      )}
    </>
  );
}

function SettingsTab({ workflow }: { readonly workflow: Workflow }) {
  const [name, setName] = useState(workflow.name);
  const navigate = useNavigate();
  const update = useChange("updateWorkflow", { onDone: () => showToast(text.nameSaved) });
  const remove = useChange("deleteWorkflow", {
    invalidates: ["listMyWorkflows"],
    onDone: () => {
      showToast(text.deleted(workflow.name));
      void navigate({ to: "/workflows" }); // Cannot fail.
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    update.mutate({ path: { workflow_id: workflow.id }, body: { name } });
  };
  return (
    <>
      <Section title={text.tabs.settings}>
        <form onSubmit={submit} className="flex max-w-2xl flex-col gap-4">
          <TextField label={text.name} required maxLength={255} value={name} onChange={(event) => setName(event.target.value)} />
          {update.error !== null && <ErrorNotice title={text.changeFailed} error={update.error} />}
          <Button type="submit" className="self-start" disabled={update.isPending}>
            {text.nameAction}
          </Button>
        </form>
      </Section>
      <Section title={text.deleteAction}>
        <p className="text-sm text-muted">{text.deleteText}</p>
        <div>
          <DeleteButton
            label={text.delete}
            name={workflow.name}
            action={text.deleteAction}
            isPending={remove.isPending}
            error={remove.error}
            onConfirm={() => remove.mutate({ path: { workflow_id: workflow.id } })}
          >
            {text.deleteText}
          </DeleteButton>
        </div>
      </Section>
    </>
  );
}
