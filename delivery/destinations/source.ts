import type { Delivery } from "../routing/delivery.ts";
import type { InternalDestination, InternalOutcome } from "./destination.ts";
import { deliverAsInvocation, type InvocationPorts, type RunListener } from "./invocation.ts";

/** A listening source: its events become invocations. */
export class SourceDestination implements InternalDestination {
  readonly kind = "source";
  readonly owner: string;
  readonly listener: RunListener;
  readonly #ports: InvocationPorts;

  constructor(listener: RunListener, owner: string, ports: InvocationPorts) {
    this.listener = listener;
    this.owner = owner;
    this.#ports = ports;
  }

  attempt(delivery: Delivery): Promise<InternalOutcome> {
    return deliverAsInvocation(delivery, this, this.#ports);
  }
}
