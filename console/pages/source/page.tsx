import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { Source } from "../../../client/generated/operations.ts";
import { useChange, useRead } from "../../api/queries.ts";
import { useSearchParams } from "../../parts/search.ts";
import { useCanWrite } from "../../parts/session-context.tsx";
import { showFailure, showToast } from "../../parts/toasts.tsx";
import { Button } from "../../parts/button.tsx";
import { CopyButton, Id } from "../../parts/copy-button.tsx";
import { formatCount } from "../../parts/format.ts";
import { ErrorNotice, Loading } from "../../parts/notices.tsx";
import { Facts, Page } from "../../parts/page.tsx";
import { State } from "../../parts/state.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { Time } from "../../parts/time.tsx";
import { CodeTab } from "./code-tab.tsx";
import { ErrorsTab } from "./errors-tab.tsx";
import { EventsTab } from "./events-tab.tsx";
import { LogsTab } from "./logs-tab.tsx";
import { ReplayDialog } from "./replay-dialog.tsx";
import { RunDialog } from "./run-dialog.tsx";
import { RunsTab } from "./runs-tab.tsx";
import { MetricsTab } from "./metrics-tab.tsx";
import { SettingsTab } from "./settings-tab.tsx";
import { text } from "./strings.ts";
import { TicksTab } from "./ticks-tab.tsx";

const refreshMs = 5_000;

const tabs: Readonly<Record<string, (props: { readonly source: Source }) => React.ReactNode>> = {
  events: EventsTab,
  runs: RunsTab,
  logs: LogsTab,
  ticks: TicksTab,
  metrics: MetricsTab,
  errors: ErrorsTab,
  code: CodeTab,
  settings: SettingsTab,
};

export function SourcePage() {
  const { id = "" } = useParams({ strict: false }) as { readonly id?: string }; // By the route.
  const source = useRead("getSource", { path: { id } }, { everyMs: refreshMs });
  if (source.data === undefined) return source.error === null ? <Loading /> : <ErrorNotice title={text.notFound} error={source.error} />;
  return <LoadedSource source={source.data.data} />;
}

function LoadedSource({ source }: { readonly source: Source }) {
  const [{ tab = "events" }] = useSearchParams();
  const View = tabs[tab] ?? EventsTab;
  return (
    <Page title={source.name} note={<State state={source.state} label={text.states[source.state]} />} actions={<Actions source={source} />}>
      {source.problem !== null && source.state !== "paused" && (
        <ErrorNotice title={source.problem.code} error={new Error(source.problem.message)} />
      )}
      <SourceFacts source={source} />
      <Tabs label={text.views} current={tab} tabs={Object.entries(text.tabs)} />
      <View key={source.id} source={source} />
    </Page>
  );
}

function Actions({ source }: { readonly source: Source }) {
  const [open, setOpen] = useState<"run" | "replay">();
  const canWrite = useCanWrite();
  const navigate = useNavigate();
  const update = useChange("updateSource", { invalidates: ["getSource", "listMySources"] });
  const setActive = (active: boolean): void => {
    const undo = (): void => setActive(!active);
    update.mutate(
      { path: { id: source.id }, body: { active } },
      {
        onSuccess: () => showToast(active ? text.resumed(source.name) : text.paused(source.name), undo),
        onError: (error) => showFailure(text.changeFailed, error),
      },
    );
  };
  const close = (): void => setOpen(undefined);
  if (!canWrite) return null;
  return (
    <>
      <Button kind="primary" onClick={() => setOpen("run")}>
        {text.runNow}
      </Button>
      <Button onClick={() => setOpen("replay")}>{text.replay}</Button>
      <Button disabled={update.isPending} onClick={() => setActive(!source.active)}>
        {source.active ? text.pause : text.resume}
      </Button>
      {open === "run" && (
        <RunDialog
          source={source}
          onClose={close}
          onShow={(run) => void navigate({ to: ".", search: { tab: "runs", run } as never })} // Cannot fail.
        />
      )}
      {open === "replay" && <ReplayDialog source={source} onClose={close} />}
    </>
  );
}

function SourceFacts({ source }: { readonly source: Source }) {
  const endpoints = Object.values(source.configured_props).flatMap((value) =>
    typeof value === "object" && value !== null && "endpoint_url" in value && typeof value.endpoint_url === "string"
      ? [value.endpoint_url]
      : [],
  );
  return (
    <Facts
      facts={[
        ["Id", <Id key="id" id={source.id} />],
        ...endpoints.map((url) => [text.endpoint, <Endpoint key={url} url={url} />] as const),
        [text.lastRun, source.last_run_at === null ? text.never : <Time key="last" ms={source.last_run_at * 1_000} />],
        [text.nextTick, source.next_tick_at === null ? text.none : <Time key="next" ms={source.next_tick_at * 1_000} />],
        [text.backlog, source.backlog === null ? text.none : formatCount(source.backlog)],
        [text.created, <Time key="created" ms={source.created_at * 1_000} />],
      ]}
    />
  );
}

function Endpoint({ url }: { readonly url: string }) {
  const curl = `curl -X POST '${url}' -H 'content-type: application/json' -d '{"hello":"world"}'`;
  return (
    <span className="flex flex-wrap items-center gap-1">
      <code className="min-w-0 font-mono text-xs">{url}</code>
      <CopyButton value={url} label={text.endpoint} />
      <span className="inline-flex items-center text-xs text-muted">
        {text.curl}
        <CopyButton value={curl} label={text.curl} />
      </span>
    </span>
  );
}
