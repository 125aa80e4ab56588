import { kindOfId } from "../../domain/ids.ts";
import type { Clock } from "../../domain/clock.ts";
import type { Secrets } from "../destinations/ports.ts";
import { sealedSend } from "../destinations/send-http.ts";
import { deadLetter } from "../record/dead-letter.ts";
import type { DeadLetters } from "../record/ports.ts";
import type { Delivery } from "../routing/delivery.ts";

export interface DiscardPorts {
  readonly history: Pick<DeadLetters, "recordDeadLetters">;
  readonly secrets: Pick<Secrets, "seal">;
  readonly clock: Clock;
}

/** `scheduled`: the delivery is stored in DELIVERIES and will be due again. `done`: it needs no further attempt. */
export type Settled = "done" | "scheduled";

/** Deliveries to sources cannot fail: they are stored, or repeated. */
export const becomesDeadLetter = ({ listener }: Delivery): boolean => kindOfId(listener) !== "source";

/** Stores deliveries that are given up as dead letters. */
export class Discards {
  readonly #ports: DiscardPorts;

  constructor(ports: DiscardPorts) {
    this.#ports = ports;
  }

  async add(delivery: Delivery, reason: string): Promise<Settled> {
    const kept = await sealedSend(delivery, this.#ports.secrets);
    await this.#ports.history.recordDeadLetters([deadLetter(kept, reason, this.#ports.clock.now())]);
    return "done";
  }

  /** Of a delivery whose current attempt was not made. */
  unattempted(delivery: Delivery, reason: string): Promise<Settled> {
    return this.add({ ...delivery, attempt: delivery.attempt - 1 }, reason);
  }
}
