import type pg from "pg";

/**
 * Postgres notifications as wake-ups. They carry no truth: whoever is woken reads the tables, and whoever waits also looks
 * by itself now and then, so a lost notification costs time and nothing else.
 */
export interface Signals {
  /**
   * Begins to listen. `wait` resolves at the next notification since the last `wait`, after `timeoutMs`, on abort, or when the
   * listening connection was lost or has come back (something may have been missed).
   */
  subscribe(channel: string, payload: string): Subscription;
  close(): Promise<void>;
}

export interface Subscription {
  wait(timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** False while notifications cannot arrive: look more often. */
  readonly live: boolean;
  end(): void;
}

interface Waiter {
  readonly channel: string;
  readonly payload: string;
  rung: boolean;
  ring(): void;
}

const reconnectMs = { first: 100, most: 5_000 };

/** One connection for all subscriptions of a process, opened by the first of them. */
export function createSignals(newClient: () => pg.Client): Signals {
  const waiters = new Set<Waiter>();
  const listening = new Set<string>();
  let client: pg.Client | undefined;
  let live = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let delayMs = reconnectMs.first;

  const ringAll = (): void => waiters.forEach((waiter) => waiter.ring());

  function lose(of: pg.Client): void {
    if (client !== of) return;
    client = undefined;
    live = false;
    // Its end says nothing new: the connection is gone or about to be.
    of.end().catch(() => {});
    ringAll();
    if (closed || waiters.size === 0) return;
    timer = setTimeout(open, delayMs);
    timer.unref();
    delayMs = Math.min(delayMs * 2, reconnectMs.most);
  }

  function open(): void {
    if (client !== undefined || closed) return;
    const next = newClient();
    client = next;
    next.on("error", () => lose(next));
    next.on("end", () => lose(next));
    next.on("notification", ({ channel, payload }) => {
      for (const waiter of waiters) if (waiter.channel === channel && waiter.payload === payload) waiter.ring();
    });
    listen(next).catch(() => lose(next));
  }

  async function listen(next: pg.Client): Promise<void> {
    await next.connect();
    for (const channel of listening) await next.query(`listen ${next.escapeIdentifier(channel)}`);
    if (client !== next) return;
    live = true;
    delayMs = reconnectMs.first;
    ringAll();
  }

  return {
    subscribe(channel, payload) {
      const waiter = createWaiter(channel, payload);
      waiters.add(waiter);
      if (!listening.has(channel)) {
        listening.add(channel);
        const running = client;
        // A connection that is already up learns the channel now, one that is on its way when it arrives.
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

function createWaiter(channel: string, payload: string): Waiter & Pick<Subscription, "wait"> {
  let wake: (() => void) | undefined;
  const waiter = {
    channel,
    payload,
    rung: false,
    ring() {
      waiter.rung = true;
      wake?.();
    },
    wait(timeoutMs: number, signal: AbortSignal): Promise<void> {
      return new Promise((resolve) => {
        const timer = setTimeout(done, timeoutMs);
        signal.addEventListener("abort", done, { once: true });
        wake = done;
        if (waiter.rung || signal.aborted) done();
        function done(): void {
          clearTimeout(timer);
          signal.removeEventListener("abort", done);
          waiter.rung = false;
          wake = undefined;
          resolve();
        }
      });
    },
  };
  return waiter;
}
