import type pg from "pg";
import { backoffMs } from "../../domain/retry.ts";

/** Postgres notifications as wake-ups only: subscribers read the tables, and also poll, so a lost notification costs only time. */
export interface Signals {
  /**
   * Starts listening. `wait` resolves at the next notification since the last `wait`, after `timeoutMs`, on abort, or when the listening
   * connection was lost or restored (notifications may have been missed).
   */
  subscribe(channel: string, payload: string): Subscription;
  close(): Promise<void>;
}

export interface Subscription {
  wait(timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** False while notifications cannot arrive: poll more often. */
  readonly live: boolean;
  end(): void;
}

interface Waiter {
  readonly channel: string;
  readonly payload: string;
  isSignaled: boolean;
  signal(): void;
}

const reconnectDelay = { firstMs: 100, maxMs: 5_000 };

/** One connection for all subscriptions of a process, opened by the first one. */
export function createSignals(newClient: () => pg.Client): Signals {
  return new ListeningSignals(newClient);
}

/**
 * idle ── first subscription ──▶ connecting ── listens to all channels ──▶ live
 *                                  ▲  └──── fails ────┐                     │
 *                                  └── after a delay ─┴──── lost ◀──────────┘
 */
class ListeningSignals implements Signals {
  readonly #newClient: () => pg.Client;
  readonly #waiters = new Set<Waiter>();
  readonly #listening = new Set<string>();
  #client: pg.Client | undefined;
  #isLive = false;
  #isClosed = false;
  #reconnect: NodeJS.Timeout | undefined;
  #failures = 0;

  constructor(newClient: () => pg.Client) {
    this.#newClient = newClient;
  }

  subscribe(channel: string, payload: string): Subscription {
    const waiter = createWaiter(channel, payload);
    this.#waiters.add(waiter);
    this.#listenTo(channel);
    clearTimeout(this.#reconnect);
    this.#open();
    const isLive = (): boolean => this.#isLive;
    return {
      get live() {
        return isLive();
      },
      wait: (timeoutMs, signal) => waiter.wait(timeoutMs, signal),
      end: () => void this.#waiters.delete(waiter),
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#reconnect);
    const last = this.#client;
    this.#client = undefined;
    this.#isLive = false;
    this.#signalAll();
    await last?.end().catch(() => {});
  }

  /** An open connection listens to the channel now, one that is connecting will do so. */
  #listenTo(channel: string): void {
    if (this.#listening.has(channel)) return;
    this.#listening.add(channel);
    const running = this.#client;
    if (running !== undefined && this.#isLive)
      running.query(`listen ${running.escapeIdentifier(channel)}`).catch(() => this.#lose(running));
  }

  #open(): void {
    if (this.#client !== undefined || this.#isClosed) return;
    const next = this.#newClient();
    this.#client = next;
    next.on("error", () => this.#lose(next));
    next.on("end", () => this.#lose(next));
    next.on("notification", ({ channel, payload }) => {
      for (const waiter of this.#waiters) if (waiter.channel === channel && waiter.payload === payload) waiter.signal();
    });
    this.#connect(next).catch(() => this.#lose(next));
  }

  async #connect(next: pg.Client): Promise<void> {
    await next.connect();
    for (const channel of this.#listening) await next.query(`listen ${next.escapeIdentifier(channel)}`);
    if (this.#client !== next) return;
    this.#isLive = true;
    this.#failures = 0;
    this.#signalAll();
  }

  #lose(client: pg.Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#isLive = false;
    // The error is irrelevant: the connection is gone or about to be.
    client.end().catch(() => {});
    this.#signalAll();
    if (this.#isClosed || this.#waiters.size === 0) return;
    this.#failures += 1;
    this.#reconnect = setTimeout(() => this.#open(), backoffMs(this.#failures, reconnectDelay, Math.random()));
    this.#reconnect.unref();
  }

  #signalAll(): void {
    for (const waiter of this.#waiters) waiter.signal();
  }
}

/** Without notifications: subscribers poll. */
export function createPolling(): Signals {
  const waiters = new Set<Waiter>();
  return {
    subscribe(channel, payload) {
      const waiter = createWaiter(channel, payload);
      waiters.add(waiter);
      return { live: false, wait: (timeoutMs, signal) => waiter.wait(timeoutMs, signal), end: () => void waiters.delete(waiter) };
    },
    close() {
      for (const waiter of waiters) waiter.signal();
      return Promise.resolve();
    },
  };
}

function createWaiter(channel: string, payload: string): Waiter & Pick<Subscription, "wait"> {
  let wake: (() => void) | undefined;
  const waiter = {
    channel,
    payload,
    isSignaled: false,
    signal() {
      waiter.isSignaled = true;
      wake?.();
    },
    wait(timeoutMs: number, signal: AbortSignal): Promise<void> {
      return new Promise((resolve) => {
        const timer = setTimeout(done, timeoutMs);
        signal.addEventListener("abort", done, { once: true });
        wake = done;
        if (waiter.isSignaled || signal.aborted) done();
        function done(): void {
          clearTimeout(timer);
          signal.removeEventListener("abort", done);
          waiter.isSignaled = false;
          wake = undefined;
          resolve();
        }
      });
    },
  };
  return waiter;
}
