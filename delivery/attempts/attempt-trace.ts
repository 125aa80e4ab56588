import type { Span, SpanEnd, Traces } from "../../domain/traces.ts";
import type { Outcome } from "../deliverers/webhook.ts";
import type { Delivery } from "../routing/delivery.ts";
import type { Webhook } from "../routing/routes.ts";

/** An attempt begins, after the commit of its event. Of the address only the host is told: the rest may be a secret. */
export function traceAttempt(traces: Traces, { id, attempt, event }: Delivery, webhook: Webhook): Span {
  return traces.start("delivery.attempt", {
    kind: "client",
    traceparent: event.traceparent,
    attributes: {
      "http.request.method": "POST",
      "server.address": URL.parse(webhook.url)?.hostname ?? "",
      "webhook.id": webhook.id,
      "source.id": event.source,
      "owner.id": event.owner,
      "delivery.id": id,
      attempt,
    },
  });
}

/** How an attempt ends that came to this. */
export function attemptEnd({ outcome, status }: Outcome): SpanEnd {
  return {
    ...(status === null ? {} : { attributes: { "http.response.status_code": status } }),
    error: outcome === "delivered" ? undefined : (status?.toString() ?? "unreachable"),
  };
}
