import type { Span, Webhook } from "../../../client/generated/operations.ts";
import { useChange, useRead } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { Loaded } from "../../parts/notices.tsx";
import { useCanWrite } from "../../parts/session-context.tsx";
import { showFailure, showToast } from "../../parts/toasts.tsx";
import { Tree } from "../../parts/tree.tsx";
import { curlOf } from "./curl.ts";
import { useEvent } from "./event-view.tsx";
import { Hint, InspectorTabs, SpanFacts } from "./parts.tsx";
import { text } from "./strings.ts";

interface DeliveryProps {
  readonly span: Span;
  /** The delivered event; undefined: it is not in the trace. */
  readonly event: Span | undefined;
}

/** A delivery to a webhook, or of what `$.send` asked for. */
export function DeliveryView({ span, event }: DeliveryProps) {
  const { webhook_id: webhook } = span;
  return (
    <>
      <SpanFacts span={span} more={span.detail === undefined ? [] : [[text.tabs.output, <bdi key="result">{span.detail}</bdi>]]} />
      {span.status !== "succeeded" && <Retry span={span} />}
      {webhook !== undefined && event?.event_id !== undefined && <Request span={span} webhook={webhook} event={event} />}
    </>
  );
}

function Retry({ span }: { readonly span: Span }) {
  const retry = useChange("retryDelivery", { invalidates: ["getTrace", "listAttempts"], onDone: () => showToast(text.retried) });
  if (!useCanWrite() || span.delivery_id === undefined) return null;
  const { delivery_id: id } = span;
  return (
    <div>
      <Button
        disabled={retry.isPending}
        onClick={() => retry.mutate({ path: { id } }, { onError: (error) => showFailure(text.retryFailed, error) })}
      >
        {text.retry}
      </Button>
    </div>
  );
}

function Request({ span, webhook, event }: { readonly span: Span; readonly webhook: string; readonly event: Span }) {
  const read = useRead("getWebhook", { path: { id: webhook } });
  const emitted = useEvent(event.source_id ?? event.workflow_id ?? "", event.event_id ?? "");
  const found = read.data?.data;
  return (
    <Loaded isLoading={read.isPending || emitted.isPending} error={read.error ?? emitted.error}>
      {found !== undefined && emitted.data !== null && emitted.data !== undefined && (
        <>
          <CopyCurl webhook={found} span={span} payload={emitted.data.event} />
          <InspectorTabs views={[["input", text.tabs.input, <Tree key="input" value={emitted.data.event} />]]} />
        </>
      )}
      {emitted.data === null && <Hint>{text.eventGone}</Hint>}
    </Loaded>
  );
}

function CopyCurl({ webhook, span, payload }: { readonly webhook: Webhook; readonly span: Span; readonly payload: unknown }) {
  const command = curlOf({ url: webhook.url, id: (span.delivery_id ?? "").split(".", 1)[0] ?? "", payload });
  const copy = (): void => {
    navigator.clipboard.writeText(command).then(
      () => showToast(text.copied),
      () => undefined, // Without permission nothing is copied, and nothing claims it.
    );
  };
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Button onClick={copy}>{text.curl}</Button>
      <span className="text-xs text-muted">{text.curlHint}</span>
    </div>
  );
}
