import { randomBytes } from "node:crypto";
import type { DeliveryPorts } from "../../delivery/ports.ts";
import { systemClock } from "../../domain/clock.ts";
import { AdmissionGate, defaultBacklogLimits } from "../../domain/limits/admission.ts";
import { createOwnerLimits } from "../../platform/jetstream/buckets/quotas.ts";
import type { Connection } from "../../platform/jetstream/connection/connection.ts";
import { createDeliveries } from "../../platform/jetstream/deliveries/due-deliveries.ts";
import { createFormerQueues } from "../../platform/jetstream/deliveries/former-queues.ts";
import { createOrderedQueueStore } from "../../platform/jetstream/deliveries/ordered-queues.ts";
import { readReplays } from "../../platform/jetstream/deliveries/replays.ts";
import { createRouteEntries } from "../../platform/jetstream/deliveries/routes.ts";
import { createWorkflowQueues } from "../../platform/jetstream/deliveries/workflow-queues.ts";
import { publishInvocation } from "../../platform/jetstream/invocations/publish-invocation.ts";
import { createReplicas } from "../../platform/jetstream/members/delivery-replicas.ts";
import { createOrderedQueueRequests } from "../../platform/jetstream/requests/ordered-queue-requests.ts";
import { serveWebhookTests } from "../../platform/jetstream/requests/webhook-test-requests.ts";
import { createRuns } from "../../platform/jetstream/runs/commit-readers.ts";
import { announceEmitted } from "../../platform/jetstream/runs/emitted-events.ts";
import { createHmacSha256 } from "../../platform/secrets/hmac.ts";

/** The durable consumer of due deliveries. */
export const dueConsumer = "delivery";

export interface DeliveryParts extends Pick<
  DeliveryPorts,
  "history" | "poster" | "mails" | "objects" | "secrets" | "log" | "metrics" | "traces"
> {
  readonly connection: Connection;
  /** Absent: the runners' reports about backlogs are not followed. */
  readonly admission?: DeliveryPorts["admission"];
}

export function deliveryPorts({ connection, ...parts }: DeliveryParts): DeliveryPorts {
  const replicas = createReplicas(connection, `d${randomBytes(8).toString("hex")}`);
  return {
    admission: new AdmissionGate(defaultBacklogLimits),
    ...parts,
    runs: createRuns(connection, parts.log),
    routes: createRouteEntries(connection),
    deliveries: createDeliveries(connection, dueConsumer),
    announce: (event) => announceEmitted(connection, event),
    queueStore: createOrderedQueueStore(connection),
    formerQueues: createFormerQueues(connection),
    replicas,
    orderedRequests: createOrderedQueueRequests(connection, () => replicas.isCurrent()),
    replays: { read: (onEvent) => readReplays(connection, onEvent) },
    tests: { serve: (test) => serveWebhookTests(connection, test) },
    invocations: {
      request: (pool, source, text, messageId) => publishInvocation(connection, { pool, source, text, messageId }),
    },
    workflows: createWorkflowQueues(connection),
    ownerLimits: createOwnerLimits(connection),
    hmac: createHmacSha256(),
    clock: systemClock,
    random: Math.random,
  };
}
