import { FairSemaphore } from "../../domain/limits/fair-semaphore.ts";

/** State of one webhook; forgotten when no attempt is in flight and nothing is wrong. */
interface Circuit {
  consecutiveFailures: number;
  /** Epoch ms until which due deliveries are postponed instead of attempted. */
  openUntil: number;
  /** Epoch ms to which the last delivery was postponed. */
  lastPostponedTo: number;
}

/** After this many consecutive failures the circuit opens. Then one attempt at a time probes the webhook. */
const failuresToOpen = 10;
const minOpenMs = 1_000;
const maxOpenMs = 30_000;
const defaultMaxWaiting = 1_000;
/**
 * Postponed deliveries of a webhook are due again this far apart. Each costs two writes, so this bounds what a dead webhook costs, and
 * the rate of attempts once it is back.
 */
const postponeIntervalMs = 1_000 / 600;

/** Concurrency permits and the circuit breaker of each webhook: one that hangs delays no other, and a dead one is only probed. */
export class WebhookCircuits {
  readonly #circuits = new Map<string, Circuit>();
  readonly #permits: FairSemaphore;
  /** Epoch ms of the last call. */
  #now = 0;

  /** @param maxInFlight bound on concurrent attempts at one webhook */
  constructor(maxInFlight: number) {
    this.#permits = new FairSemaphore({
      permitsPerKey: (webhook) => {
        const { consecutiveFailures = 0 } = this.#circuits.get(webhook) ?? {};
        if (this.#isOpen(webhook)) return 0;
        return consecutiveFailures >= failuresToOpen ? 1 : maxInFlight;
      },
    });
  }

  /** Takes a permit for an attempt if one is free now. */
  tryAcquire(webhook: string, now: number): boolean {
    this.#now = now;
    return this.#permits.tryAcquire(webhook);
  }

  /** Takes a permit as soon as one is free. Returns false if the signal aborts first, or `maxWaiting` attempts wait already. */
  async acquire(webhook: string, now: number, signal: AbortSignal, maxWaiting = defaultMaxWaiting): Promise<boolean> {
    if (this.tryAcquire(webhook, now)) return true;
    if (this.#isOpen(webhook) || this.#permits.waitingFor(webhook) >= maxWaiting || signal.aborted) return false;
    const granted = this.#permits.acquire(webhook, signal) ?? Promise.resolve();
    return granted.then(
      () => true,
      () => false,
    );
  }

  /** Returns the permit of an attempt that has ended. */
  release(webhook: string, succeeded: boolean, now: number): void {
    this.#now = now;
    const circuit = this.#get(webhook);
    circuit.consecutiveFailures = succeeded ? 0 : circuit.consecutiveFailures + 1;
    circuit.openUntil = now + openMs(circuit.consecutiveFailures);
    this.#permits.release(webhook);
    if (circuit.consecutiveFailures === 0 && this.#permits.takenBy(webhook) === 0) this.#circuits.delete(webhook);
  }

  /** Epoch ms until which nothing is attempted; undefined while the circuit is closed. In the past: it is probed. */
  openUntil(webhook: string): number | undefined {
    const { consecutiveFailures = 0, openUntil } = this.#circuits.get(webhook) ?? {};
    return consecutiveFailures >= failuresToOpen ? openUntil : undefined;
  }

  /** Milliseconds after which a delivery without a permit is due again: after the circuit may close, and one after the other. */
  postponeMs(webhook: string, now: number): number {
    const circuit = this.#get(webhook);
    const earliest = Math.max(now, circuit.openUntil) + minOpenMs;
    circuit.lastPostponedTo = Math.max(earliest, circuit.lastPostponedTo + postponeIntervalMs);
    return Math.round(circuit.lastPostponedTo - now);
  }

  #isOpen(webhook: string): boolean {
    return this.#now < (this.#circuits.get(webhook)?.openUntil ?? 0);
  }

  #get(webhook: string): Circuit {
    const circuit = this.#circuits.get(webhook) ?? { consecutiveFailures: 0, openUntil: 0, lastPostponedTo: 0 };
    this.#circuits.set(webhook, circuit);
    return circuit;
  }
}

function openMs(consecutiveFailures: number): number {
  if (consecutiveFailures < failuresToOpen) return 0;
  return Math.min(maxOpenMs, minOpenMs * 2 ** Math.min(5, consecutiveFailures - failuresToOpen));
}
