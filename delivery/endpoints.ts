/** What is known of one webhook's endpoint right now; forgotten when nothing is under way and nothing is wrong. */
interface Endpoint {
  inFlight: number;
  failuresInARow: number;
  /** Epoch ms before which due deliveries are put off instead of tried. */
  restUntil: number;
  /** Epoch ms at which the last of those that were put off asks again. */
  lastAgainAt: number;
  readonly waiting: (() => void)[];
}

/** After this many failures in a row an endpoint rests: one probe at a time instead of a share of attempts. */
const failuresToRest = 10;
const shortestRestMs = 1_000;
const longestRestMs = 30_000;
const mostWaiting = 1_000;
/**
 * Those that are put off ask again so far apart, per endpoint. Each costs two writes whenever it asks in vain, so what a dead endpoint costs
 * has a bound however much waits for it; and once it is back, so many a second are tried.
 */
const againApartMs = 1_000 / 600;

/**
 * Shares out attempts: no endpoint has more than its share under way, so that one that hangs holds nobody else's place, and one
 * that is dead is asked now and then instead of all the time.
 */
export class Endpoints {
  readonly #share: number;
  readonly #endpoints = new Map<string, Endpoint>();

  constructor(share: number) {
    this.#share = share;
  }

  /** A place now, or false. */
  tryEnter(webhook: string, now: number): boolean {
    const endpoint = this.#get(webhook);
    if (endpoint.inFlight >= this.#shareOf(endpoint) || now < endpoint.restUntil) return false;
    endpoint.inFlight++;
    return true;
  }

  /** A place as soon as one is free; false when none was until the signal aborts, or when `most` or more wait already. */
  async enter(webhook: string, now: number, signal: AbortSignal, most = mostWaiting): Promise<boolean> {
    if (this.tryEnter(webhook, now)) return true;
    const endpoint = this.#get(webhook);
    if (now < endpoint.restUntil || endpoint.waiting.length >= most || signal.aborted) return false;
    return new Promise((resolve) => {
      const enter = () => {
        signal.removeEventListener("abort", leave);
        endpoint.inFlight++;
        resolve(true);
      };
      const leave = () => {
        endpoint.waiting.splice(endpoint.waiting.indexOf(enter), 1);
        resolve(false);
      };
      signal.addEventListener("abort", leave, { once: true });
      endpoint.waiting.push(enter);
    });
  }

  /** Gives the place back. */
  leave(webhook: string, succeeded: boolean, now: number): void {
    const endpoint = this.#get(webhook);
    endpoint.inFlight--;
    endpoint.failuresInARow = succeeded ? 0 : endpoint.failuresInARow + 1;
    endpoint.restUntil = now + restMs(endpoint.failuresInARow);
    if (endpoint.inFlight < this.#shareOf(endpoint) && endpoint.restUntil <= now) endpoint.waiting.shift()?.();
    if (endpoint.inFlight === 0 && endpoint.failuresInARow === 0 && endpoint.waiting.length === 0) this.#endpoints.delete(webhook);
  }

  /** ms after which a delivery that found no place should ask again: not before the rest is over, and one after the other. */
  againAfterMs(webhook: string, now: number): number {
    const endpoint = this.#get(webhook);
    const earliest = Math.max(now, endpoint.restUntil) + shortestRestMs;
    endpoint.lastAgainAt = Math.max(earliest, endpoint.lastAgainAt + againApartMs);
    return Math.round(endpoint.lastAgainAt - now);
  }

  #shareOf(endpoint: Endpoint): number {
    return endpoint.failuresInARow >= failuresToRest ? 1 : this.#share;
  }

  #get(webhook: string): Endpoint {
    const known = this.#endpoints.get(webhook);
    if (known !== undefined) return known;
    const created: Endpoint = { inFlight: 0, failuresInARow: 0, restUntil: 0, lastAgainAt: 0, waiting: [] };
    this.#endpoints.set(webhook, created);
    return created;
  }
}

function restMs(failuresInARow: number): number {
  if (failuresInARow < failuresToRest) return 0;
  return Math.min(longestRestMs, shortestRestMs * 2 ** Math.min(5, failuresInARow - failuresToRest));
}
