import type { Delivery } from "../routing/delivery.ts";
import type { Destination, Outcome } from "./destination.ts";
import { deliverAsInvocation, type InvocationPorts, type RunListener } from "./invocation.ts";

/** A listening source: its events become invocations. */
export class SourceDestination implements Destination {
  readonly kind = "source";
  readonly owner: string;
  readonly circuit = undefined;
  readonly isScheduledFirst = false;
  readonly listener: RunListener;
  readonly #ports: InvocationPorts;

  constructor(listener: RunListener, owner: string, ports: InvocationPorts) {
    this.listener = listener;
    this.owner = owner;
    this.#ports = ports;
  }

  refusal(): undefined {
    return undefined;
  }

  attempt(delivery: Delivery): Promise<Outcome> {
    return deliverAsInvocation(delivery, this, this.#ports);
  }

  spanAttributes(): Readonly<Record<string, string>> {
    return {};
  }
}
