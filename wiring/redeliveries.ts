import type { Redeliveries } from "../api/webhooks/ports.ts";
import type { Connection } from "../platform/jetstream/connection/connection.ts";
import { requestRedelivery } from "../platform/jetstream/deliveries/due-deliveries.ts";
import { requestWebhookTest } from "../platform/jetstream/requests/webhook-test-requests.ts";

export function redeliveriesOf(connection: Connection): Redeliveries {
  return {
    request: (request) => requestRedelivery(connection, request),
    test: (request) => requestWebhookTest(connection.nats, request),
  };
}
