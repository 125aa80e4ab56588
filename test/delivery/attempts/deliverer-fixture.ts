import { Attempts } from "../../../delivery/attempts/attempts.ts";
import { Deliverer } from "../../../delivery/attempts/deliver.ts";
import { Destinations } from "../../../delivery/destinations/destinations.ts";
import { FailingWebhooks } from "../../../delivery/destinations/failing-webhooks.ts";
import { WorkflowQueues } from "../../../delivery/destinations/workflow-queues.ts";
import type { DeliveryConfig, DeliveryPorts } from "../../../delivery/ports.ts";
import { Routes } from "../../../delivery/routing/routes.ts";

/** A deliverer with its parts, as `startDelivery` connects them. */
export function createDeliverer(config: DeliveryConfig, ports: DeliveryPorts) {
  const routes = new Routes();
  const failing = new FailingWebhooks(config, ports, () => Promise.resolve());
  const queues = new WorkflowQueues(ports, routes, new AbortController().signal);
  const attempts = new Attempts(config, ports, () => failing.save());
  const destinations = new Destinations(ports, { routes, failing, queues });
  return { routes, attempts, deliverer: new Deliverer(config, ports, attempts, destinations) };
}
