import type { Redeliveries } from "../api/webhooks/ports.ts";
import type { Connection } from "../platform/jetstream/connection.ts";
import { requestRedelivery } from "../platform/jetstream/redeliveries.ts";
import { requestWebhookTest } from "../platform/jetstream/webhook-tests.ts";

export function redeliveriesOf(connection: Connection): Redeliveries {
  return {
    request: (request) => requestRedelivery(connection, request),
    test: (request) => requestWebhookTest(connection.nats, request),
  };
}
