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
  const waiters = new Set<Waiter>();
  const listening = new Set<string>();
  let client: pg.Client | undefined;
  let live = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;

  const ringAll = (): void => waiters.forEach((waiter) => waiter.signal());

  function lose(of: pg.Client): void {
    if (client !== of) return;
    client = undefined;
    live = false;
    // The error is irrelevant: the connection is gone or about to be.
    of.end().catch(() => {});
    ringAll();
    if (closed || waiters.size === 0) return;
    failures++;
    timer = setTimeout(open, backoffMs(failures, reconnectDelay, Math.random()));
    timer.unref();
  }

  function open(): void {
    if (client !== undefined || closed) return;
    const next = newClient();
    client = next;
    next.on("error", () => lose(next));
    next.on("end", () => lose(next));
    next.on("notification", ({ channel, payload }) => {
      for (const waiter of waiters) if (waiter.channel === channel && waiter.payload === payload) waiter.signal();
    });
    listen(next).catch(() => lose(next));
  }

  async function listen(next: pg.Client): Promise<void> {
    await next.connect();
    for (const channel of listening) await next.query(`listen ${next.escapeIdentifier(channel)}`);
    if (client !== next) return;
    live = true;
    failures = 0;
    ringAll();
  }

  return {
    subscribe(channel, payload) {
      const waiter = createWaiter(channel, payload);
      waiters.add(waiter);
      if (!listening.has(channel)) {
        listening.add(channel);
        const running = client;
        // An open connection listens to the channel now, one that is connecting will do so.
        if (running !== undefined && live) running.query(`listen ${running.escapeIdentifier(channel)}`).catch(() => lose(running));
      }
      clearTimeout(timer);
      open();
      return {
        get live() {
          return live;
        },
        wait: (timeoutMs, signal) => waiter.wait(timeoutMs, signal),
        end: () => void waiters.delete(waiter),
      };
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      const last = client;
      client = undefined;
      live = false;
      ringAll();
      await last?.end().catch(() => {});
    },
  };
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
