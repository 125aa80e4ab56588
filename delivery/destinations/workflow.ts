import type { Delivery } from "../routing/delivery.ts";
import type { InternalDestination, InternalOutcome } from "./destination.ts";
import { deliverAsInvocation, type InvocationPorts } from "./invocation.ts";
import type { WorkflowQueues } from "./workflow-queues.ts";

/** A workflow: its events become invocations while it is active, and wait in its queue until it is. */
export class WorkflowDestination implements InternalDestination {
  readonly kind = "workflow";
  readonly owner: string;
  readonly #workflow: string;
  readonly #queues: Pick<WorkflowQueues, "directRoute" | "store">;
  readonly #ports: InvocationPorts;

  constructor(workflow: string, owner: string, queues: Pick<WorkflowQueues, "directRoute" | "store">, ports: InvocationPorts) {
    this.owner = owner;
    this.#workflow = workflow;
    this.#queues = queues;
    this.#ports = ports;
  }

  /** By the route of now: the workflow may have changed while the delivery waited behind earlier ones, which may be in its queue. */
  async attempt(delivery: Delivery): Promise<InternalOutcome> {
    const route = this.#queues.directRoute(this.#workflow);
    if (route !== undefined) return deliverAsInvocation(delivery, route, this.#ports);
    const refusal = await this.#queues.store(delivery, this.owner);
    return refusal === undefined ? { outcome: "delivered", status: null } : { outcome: "refused", status: null, error: refusal };
  }
}
