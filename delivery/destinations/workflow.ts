import type { Delivery } from "../routing/delivery.ts";
import type { Destination, Outcome } from "./destination.ts";
import { deliverAsInvocation, type InvocationPorts } from "./invocation.ts";
import type { WorkflowQueues } from "./workflow-queues.ts";

/** A workflow: its events become invocations while it is active, and wait in its queue until it is. */
export class WorkflowDestination implements Destination {
  readonly kind = "workflow";
  readonly owner: string;
  readonly circuit = undefined;
  readonly isScheduledFirst = false;
  readonly #workflow: string;
  readonly #queues: Pick<WorkflowQueues, "directRoute" | "store">;
  readonly #ports: InvocationPorts;

  constructor(workflow: string, owner: string, queues: Pick<WorkflowQueues, "directRoute" | "store">, ports: InvocationPorts) {
    this.owner = owner;
    this.#workflow = workflow;
    this.#queues = queues;
    this.#ports = ports;
  }

  refusal(): undefined {
    return undefined;
  }

  /** By the route of now: the workflow may have changed while the delivery waited behind earlier ones, which may be in its queue. */
  async attempt(delivery: Delivery): Promise<Outcome> {
    const route = this.#queues.directRoute(this.#workflow);
    if (route !== undefined) return deliverAsInvocation(delivery, route, this.#ports);
    const refusal = await this.#queues.store(delivery, this.owner);
    return refusal === undefined ? { outcome: "delivered", status: null } : { outcome: "refused", status: null, error: refusal };
  }

  spanAttributes(): Readonly<Record<string, string>> {
    return {};
  }
}
