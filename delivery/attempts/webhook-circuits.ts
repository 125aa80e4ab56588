import { FairSemaphore } from "../../domain/limits/fair-semaphore.ts";

/** What is known of one webhook's endpoint; forgotten when no attempt is in flight and nothing is wrong. */
interface Endpoint {
  failuresInARow: number;
  /** Epoch ms until which due deliveries are put off instead of attempted. */
  openUntil: number;
  /** Epoch ms for which the last delivery was put off. */
  lastAgainAt: number;
}

/** After this many failures in a row the circuit opens; then one probe at a time is attempted. */
const failuresToOpen = 10;
const minOpenMs = 1_000;
const maxOpenMs = 30_000;
const defaultMaxWaiting = 1_000;
/**
 * Deliveries that are put off are due again this far apart, per endpoint. Each costs two writes, so what a dead endpoint costs has a bound
 * however much waits for it; and once it is back, so many a second are attempted.
 */
const againApartMs = 1_000 / 600;

/** Bounds the attempts in flight to one endpoint, so that one that hangs delays no other, and attempts a dead one only now and then. */
export class Endpoints {
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #attempts: FairSemaphore;
  /** Epoch ms of the last call. */
  #now = 0;

  /** @param maxInFlight attempts at one webhook at once */
  constructor(maxInFlight: number) {
    this.#attempts = new FairSemaphore({
      permitsPerKey: (webhook) => {
        const { failuresInARow = 0 } = this.#endpoints.get(webhook) ?? {};
        if (this.#isOpen(webhook)) return 0;
        return failuresInARow >= failuresToOpen ? 1 : maxInFlight;
      },
    });
  }

  /** Takes a permit for an attempt if one is free now. */
  tryEnter(webhook: string, now: number): boolean {
    this.#now = now;
    return this.#attempts.tryAcquire(webhook);
  }

  /** Takes a permit as soon as one is free; false when the signal aborts before, or `maxWaiting` attempts or more wait already. */
  async enter(webhook: string, now: number, signal: AbortSignal, maxWaiting = defaultMaxWaiting): Promise<boolean> {
    if (this.tryEnter(webhook, now)) return true;
    if (this.#isOpen(webhook) || this.#attempts.waitingFor(webhook) >= maxWaiting || signal.aborted) return false;
    const granted = this.#attempts.acquire(webhook, signal) ?? Promise.resolve();
    return granted.then(
      () => true,
      () => false,
    );
  }

  /** The attempt has ended. */
  leave(webhook: string, succeeded: boolean, now: number): void {
    this.#now = now;
    const endpoint = this.#get(webhook);
    endpoint.failuresInARow = succeeded ? 0 : endpoint.failuresInARow + 1;
    endpoint.openUntil = now + openMs(endpoint.failuresInARow);
    this.#attempts.release(webhook);
    if (endpoint.failuresInARow === 0 && this.#attempts.takenBy(webhook) === 0) this.#endpoints.delete(webhook);
  }

  /** ms after which a delivery that got no permit is due again: not before the circuit may close, and one after the other. */
  againAfterMs(webhook: string, now: number): number {
    const endpoint = this.#get(webhook);
    const earliest = Math.max(now, endpoint.openUntil) + minOpenMs;
    endpoint.lastAgainAt = Math.max(earliest, endpoint.lastAgainAt + againApartMs);
    return Math.round(endpoint.lastAgainAt - now);
  }

  #isOpen(webhook: string): boolean {
    return this.#now < (this.#endpoints.get(webhook)?.openUntil ?? 0);
  }

  #get(webhook: string): Endpoint {
    const known = this.#endpoints.get(webhook) ?? { failuresInARow: 0, openUntil: 0, lastAgainAt: 0 };
    this.#endpoints.set(webhook, known);
    return known;
  }
}

function openMs(failuresInARow: number): number {
  if (failuresInARow < failuresToOpen) return 0;
  return Math.min(maxOpenMs, minOpenMs * 2 ** Math.min(5, failuresInARow - failuresToOpen));
}
