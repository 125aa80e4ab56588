import type { Span, Webhook } from "../../../client/generated/operations.ts";
import { useChange, useRead } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { ReceivedResponse, SentRequest } from "../../parts/exchange.tsx";
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
      {/* A new attempt is read again. */}
      {webhook !== undefined && <Exchange key={span.attempt} span={span} webhook={webhook} event={event} />}
    </>
  );
}

function Retry({ span }: { readonly span: Span }) {
  const retry = useChange("retryDelivery", {
    invalidates: ["getTrace", "listAttempts", "getDelivery"],
    onDone: () => showToast(text.retried),
  });
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

/** What the attempt has sent and received. */
function Exchange({ span, webhook, event }: { readonly span: Span; readonly webhook: string; readonly event: Span | undefined }) {
  const read = useRead("getDelivery", { path: { id: span.delivery_id ?? "" } });
  const delivery = read.data?.data;
  const attempt = delivery?.attempts.find((each) => each.attempt === span.attempt);
  if (attempt === undefined || attempt.request === null || delivery === undefined)
    return (
      <Loaded isLoading={read.isPending} error={read.error}>
        {event?.event_id !== undefined && <EventOnly span={span} webhook={webhook} event={event} />}
      </Loaded>
    );
  const { request } = attempt;
  const { body } = delivery;
  return (
    <>
      {body !== null && <CopyCurl command={curlOf({ ...request, body })} hint={text.signedCurlHint} />}
      <InspectorTabs
        views={[
          ["response", text.tabs.response, <ReceivedResponse key="response" attempt={attempt} />],
          ["request", text.tabs.request, <SentRequest key="request" request={request} />],
          [
            "input",
            text.tabs.input,
            body === null ? <Hint key="input">{text.eventGone}</Hint> : <Tree key="input" value={JSON.parse(body)} />,
          ],
        ]}
      />
    </>
  );
}

/** Of an attempt that an earlier version has recorded. */
function EventOnly({ span, webhook, event }: { readonly span: Span; readonly webhook: string; readonly event: Span }) {
  const read = useRead("getWebhook", { path: { id: webhook } });
  const emitted = useEvent(event.source_id ?? event.workflow_id ?? "", event.event_id ?? "");
  const found = read.data?.data;
  return (
    <Loaded isLoading={read.isPending || emitted.isPending} error={read.error ?? emitted.error}>
      {found !== undefined && emitted.data !== null && emitted.data !== undefined && (
        <>
          <CopyCurl command={unsignedCurl(found, span, emitted.data.event)} hint={text.curlHint} />
          <InspectorTabs views={[["input", text.tabs.input, <Tree key="input" value={emitted.data.event} />]]} />
        </>
      )}
      {emitted.data === null && <Hint>{text.eventGone}</Hint>}
    </Loaded>
  );
}

function unsignedCurl({ url }: Webhook, { delivery_id: id = "" }: Span, payload: unknown): string {
  const headers = [
    { name: "content-type", value: "application/json" },
    { name: "webhook-id", value: id.split(".", 1)[0] ?? "" },
  ];
  return curlOf({ url, headers, body: JSON.stringify(payload) });
}

function CopyCurl({ command, hint }: { readonly command: string; readonly hint: string }) {
  const copy = (): void => {
    navigator.clipboard.writeText(command).then(
      () => showToast(text.copied),
      () => undefined, // Without permission nothing is copied, and nothing claims it.
    );
  };
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Button onClick={copy}>{text.curl}</Button>
      <span className="text-xs text-muted">{hint}</span>
    </div>
  );
}
