import { percentile } from "./statistics.ts";

/** What became of the deliveries of one group of sources, since the last look. */
export interface Received {
  /** Deliveries: events times listeners. */
  readonly sent: number;
  /** Each counted once. */
  readonly received: number;
  readonly doubled: number;
  /** From the publishing of the commit, ms. */
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly most: number;
  /** Epoch ms; 0 when nothing came. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** Of all deliveries so far, those that have not come yet. */
  readonly waiting: number;
}

interface Out {
  readonly at: number;
  readonly listeners: number;
  /** Paths that had it. */
  readonly seen: Set<string>;
  readonly onAll: (() => void) | undefined;
}

interface Account {
  readonly times: number[];
  sent: number;
  received: number;
  doubled: number;
  firstAt: number;
  lastAt: number;
  waiting: number;
}

/** Which events are out, and which came back from how many listeners. A body is `{ group, id }`. */
export class EventLedger {
  readonly #out = new Map<string, Out>();
  readonly #accounts = new Map<string, Account>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** `onAll` is called when each listener has had it. */
  sent(group: string, id: string, listeners: number, onAll?: () => void): void {
    const account = this.#accounts.get(group) ?? newAccount(0);
    this.#accounts.set(group, account);
    account.sent += listeners;
    account.waiting += listeners;
    this.#out.set(id, { at: this.#now(), listeners, seen: new Set(), onAll });
  }

  /** What is not of this ledger is left out. */
  onBody(body: string, path: string): void {
    const { group, id } = JSON.parse(body) as { group: string; id: string }; // The bench's own events.
    const account = this.#accounts.get(group);
    const out = this.#out.get(id);
    if (account === undefined || out === undefined) return;
    if (out.seen.has(path)) return void account.doubled++;
    out.seen.add(path);
    account.lastAt = this.#now();
    if (account.received++ === 0) account.firstAt = account.lastAt;
    account.waiting--;
    account.times.push(account.lastAt - out.at);
    if (out.seen.size === out.listeners) out.onAll?.();
  }

  /** Since the last report, by group. */
  report(): Readonly<Record<string, Received>> {
    const reported = [...this.#accounts].map(([group, { times, ...counts }]): [string, Received] => [
      group,
      { ...counts, p50: percentile(times, 0.5), p95: percentile(times, 0.95), p99: percentile(times, 0.99), most: percentile(times, 1) },
    ]);
    for (const [group, { waiting }] of this.#accounts) this.#accounts.set(group, newAccount(waiting));
    return Object.fromEntries(reported);
  }

  /** Deliveries of a group that have not come yet. */
  waiting(group: string): number {
    return this.#accounts.get(group)?.waiting ?? 0;
  }
}

const newAccount = (waiting: number): Account => ({ times: [], sent: 0, received: 0, doubled: 0, firstAt: 0, lastAt: 0, waiting });
