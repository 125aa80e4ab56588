import type { Deliverer, DelivererConfig } from "../attempts/deliver.ts";
import type { Settled } from "../attempts/discards.ts";
import type { Delivery } from "../routing/delivery.ts";
import type { Routes } from "../routing/routes.ts";
import type { OrderedQueuePorts } from "./ports.ts";

/** Ids of a webhook's deliveries that are scheduled or due. */
export type ListScheduled = (webhook: string) => Promise<ReadonlySet<string>>;

/** The first delivery that is not done: it is being attempted, or waits in DELIVERIES for its next attempt. */
export interface Head {
  readonly delivery: Delivery;
  /** Resolves with undefined if the replica stops before. */
  readonly settled: Promise<Settled | undefined>;
  /** The result of `settled`, once it is known. */
  outcome?: Settled | undefined;
}

export interface QueueParts {
  readonly config: Pick<DelivererConfig, "deliveryDeadlineMs" | "attemptTimeoutMs">;
  readonly ports: OrderedQueuePorts;
  readonly deliverer: Pick<Deliverer, "attempt" | "schedule" | "hold" | "release" | "abandon">;
  readonly routes: Routes;
  /** Called when nothing is stored or attempted any more. */
  readonly onIdle: () => void;
}
