import { useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Webhook } from "../../../client/generated/operations.ts";
import { useChange, useRead } from "../../api/queries.ts";
import { useSearchParams } from "../../parts/search.ts";
import { useCanWrite } from "../../parts/session-context.tsx";
import { showFailure, showToast } from "../../parts/toasts.tsx";
import { Button } from "../../parts/button.tsx";
import { CopyButton, Id } from "../../parts/copy-button.tsx";
import { formatDuration } from "../../parts/format.ts";
import { HealthState, healthFacts, ProblemNotice } from "../../parts/health.tsx";
import { ErrorNotice, Loading } from "../../parts/notices.tsx";
import { Facts, Page } from "../../parts/page.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { Time } from "../../parts/time.tsx";
import { AttemptsTab } from "./attempts-tab.tsx";
import { BacklogTab } from "./backlog-tab.tsx";
import { DeadLettersTab } from "./dead-letters-tab.tsx";
import { MetricsTab } from "./metrics-tab.tsx";
import { SettingsTab } from "./settings-tab.tsx";
import { text } from "./strings.ts";
import { SubscriptionsTab } from "./subscriptions-tab.tsx";

const refreshMs = 5_000;

const tabs: Readonly<Record<string, (props: { readonly webhook: Webhook }) => ReactNode>> = {
  attempts: AttemptsTab,
  dead: DeadLettersTab,
  backlog: BacklogTab,
  metrics: MetricsTab,
  subscriptions: SubscriptionsTab,
  settings: SettingsTab,
};

export function WebhookPage() {
  const { id = "" } = useParams({ strict: false }) as { readonly id?: string }; // By the route.
  const webhook = useRead("getWebhook", { path: { id } }, { everyMs: refreshMs });
  if (webhook.data === undefined) return webhook.error === null ? <Loading /> : <ErrorNotice title={text.notFound} error={webhook.error} />;
  return <LoadedWebhook webhook={webhook.data.data} />;
}

function LoadedWebhook({ webhook }: { readonly webhook: Webhook }) {
  const [{ tab = "attempts" }] = useSearchParams();
  const View = tabs[tab] ?? AttemptsTab;
  return (
    <Page title={webhook.name ?? webhook.url} note={<HealthState item={webhook} />} actions={<Actions webhook={webhook} />}>
      {webhook.disabled === undefined ? <ProblemNotice item={webhook} /> : <Disabled webhook={webhook} />}
      <Facts
        facts={[
          ["Id", <Id key="id" id={webhook.id} />],
          [
            text.url,
            <span key="url" className="inline-flex min-w-0 items-center gap-1">
              <bdi className="min-w-0 font-mono text-xs">{webhook.url}</bdi>
              <CopyButton value={webhook.url} label={text.url} />
            </span>,
          ],
          ...healthFacts(webhook),
          [text.order, webhook.ordered ? text.ordered : text.unordered],
          [text.created, <Time key="created" ms={webhook.created_at * 1_000} />],
        ]}
      />
      <Tabs label={text.views} current={tab} tabs={Object.entries(text.tabs)} />
      <View key={webhook.id} webhook={webhook} />
    </Page>
  );
}

function useSetActive(webhook: Webhook): { readonly setActive: (active: boolean) => void; readonly isPending: boolean } {
  const update = useChange("updateWebhook", { invalidates: ["getWebhook", "listMyWebhooks"] });
  const setActive = (active: boolean): void => {
    update.mutate(
      { path: { id: webhook.id }, body: { active } },
      {
        onSuccess: () => showToast(active ? text.wasResumed : text.wasPaused, () => setActive(!active)),
        onError: (error) => showFailure(text.changeFailed, error),
      },
    );
  };
  return { setActive, isPending: update.isPending };
}

function Disabled({ webhook }: { readonly webhook: Webhook }) {
  const { setActive, isPending } = useSetActive(webhook);
  return (
    <div className="flex flex-col items-start gap-2">
      <ErrorNotice title={text.disabledTitle} error={new Error(webhook.disabled?.message ?? "")} />
      <Button disabled={isPending} onClick={() => setActive(true)}>
        {text.enable}
      </Button>
    </div>
  );
}

function Actions({ webhook }: { readonly webhook: Webhook }) {
  const { setActive, isPending } = useSetActive(webhook);
  const test = useChange("testWebhook", {
    invalidates: ["listAttempts"],
    onDone: ({ data }) => {
      const result = `${data.response_status ?? ""} ${formatDuration(data.duration_ms)}`.trim();
      if (data.outcome === "delivered") showToast(`${text.testDelivered}: ${result}`);
      else showFailure(text.testFailed, new Error(`${result} ${data.cause ?? ""}`.trim()));
    },
  });
  if (!useCanWrite()) return null;
  const send = (): void =>
    test.mutate({ path: { id: webhook.id }, body: {} }, { onError: (error) => showFailure(text.testRefused, error) });
  return (
    <>
      <Button kind="primary" disabled={test.isPending} onClick={send}>
        {test.isPending ? text.testing : text.test}
      </Button>
      {webhook.disabled === undefined && (
        <Button disabled={isPending} onClick={() => setActive(!webhook.active)}>
          {webhook.active ? text.pause : text.resume}
        </Button>
      )}
    </>
  );
}
