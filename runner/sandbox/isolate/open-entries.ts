import { setTimeout as sleep } from "node:timers/promises";
import type { FairSemaphore } from "../../../domain/limits/fair-semaphore.ts";

const pollMs = 50;
/** An entry that does not even compute is not waited for any longer. */
const maxWaitMs = 10_000;

/**
 * Watches the entries that are open in one isolate. Some operations of V8 never look whether they should stop: an entry that goes on
 * after its isolate was disposed of can be ended with its process only.
 */
export class OpenEntries {
  #count = 0;
  #isLost = false;
  readonly #slots: Pick<FairSemaphore, "taken">;

  constructor(slots: Pick<FairSemaphore, "taken">) {
    this.#slots = slots;
  }

  begin(): void {
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
  }

  /** They will never end. */
  lose(): void {
    this.#isLost = true;
  }

  /**
   * Whether all end before they have computed for that long, ms. The time that the machine gives to others does not count: their share
   * is that of the process, divided by the entries that compute in it.
   */
  async restWithin(computedMs: number): Promise<boolean> {
    const since = performance.now();
    const before = process.cpuUsage();
    while (this.#count > 0) {
      const { user, system } = process.cpuUsage(before);
      const waitedMs = performance.now() - since;
      const shareMs = (user + system) / 1_000 / Math.max(1, this.#slots.taken);
      if (this.#isLost || waitedMs > maxWaitMs || (waitedMs > computedMs && shareMs > computedMs)) return false;
      await sleep(pollMs);
    }
    return true;
  }
}
