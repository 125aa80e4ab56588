import { setTimeout as sleep } from "node:timers/promises";
import { Conflict } from "../../domain/errors.ts";
import { microTime, type LeaseRecord, type Leases } from "./leases.ts";

export interface ElectionOptions {
  readonly leases: Leases;
  /** Unique to this process. */
  readonly identity: string;
  /** For how long others leave the lease alone after they saw it renewed. Default 15 s. */
  readonly leaseMs?: number;
  /** A leader that has not renewed for so long leads no more; what it started then has the rest of the lease to end. Default 10 s. */
  readonly renewWithinMs?: number;
  /** Between two tries to acquire or renew, up to a fifth more at random. Default 2 s. */
  readonly retryMs?: number;
  /** Milliseconds that never go back, by this process's own clock. */
  readonly now?: () => number;
  /** In [0, 1). */
  readonly random?: () => number;
  readonly onError: (error: unknown) => void;
  readonly onChange?: (leads: boolean) => void;
  /** What was started as leader did not end in time: this process has to end before another leads. */
  readonly onStuck: () => void;
}

/**
 * One leader among several, by a Lease of the Kubernetes API; the rules are those of client-go's `leaderelection`.
 *
 * No clock is compared with another: a candidate takes a lease over when it has seen the same record for the whole length of
 * the lease by its own clock, and a leader counts from before it asked for the renewal that went through. So a leader has
 * stopped before anybody may take over, as long as clocks run at about the same pace and what leads ends in time; where it does
 * not, `onStuck` ends the process.
 */
export class Election {
  readonly #options: Required<Omit<ElectionOptions, "onChange">> & Pick<ElectionOptions, "onChange">;
  readonly #stop = new AbortController();
  /** What the lease says, and since when by our clock. */
  #seen: { readonly text: string; readonly at: number } | undefined;
  /** Until when this process leads, by its own clock. */
  #leadsUntil = Number.NEGATIVE_INFINITY;
  /** An answer that comes after its term has ended must not bring the term back. */
  #term = 0;

  constructor(options: ElectionOptions) {
    const now = (): number => performance.now();
    this.#options = { leaseMs: 15_000, renewWithinMs: 10_000, retryMs: 2_000, now, random: Math.random, ...options };
  }

  /** May this process act as the leader? Asked of the clock, so it turns false though nobody woke up to say so. */
  get leads(): boolean {
    return this.#options.now() < this.#leadsUntil;
  }

  /** Calls `lead` each time the lease is ours; its signal aborts when it is lost, or on stop: then the lease is released once `lead` has ended. */
  campaign(lead: (signal: AbortSignal) => Promise<void>): { stop(): Promise<void> } {
    const ended = this.#campaign(lead);
    return {
      stop: () => {
        this.#stop.abort();
        return ended;
      },
    };
  }

  async #campaign(lead: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const holds = await this.#tryToHold(signal);
      // Stopped while it asked: what would lead now would not hear of an end that has been told.
      if (holds && signal.aborted) await this.#release();
      else if (holds) await this.#lead(lead);
      await this.#pause(signal);
    }
  }

  /** From the moment the lease is ours until all that was started has ended. */
  async #lead(lead: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { onChange, onError, onStuck, leaseMs, renewWithinMs } = this.#options;
    onChange?.(true);
    const over = new AbortController();
    const ended = new AbortController();
    const led = lead(AbortSignal.any([over.signal, this.#stop.signal]))
      .catch(onError)
      .finally(() => ended.abort());
    await this.#renewUntil(ended.signal);
    this.#term++;
    over.abort();
    const stuck = setTimeout(onStuck, (leaseMs - renewWithinMs) * 0.8);
    await led;
    clearTimeout(stuck);
    await this.#release();
    onChange?.(false);
  }

  /** Renews until what leads has ended, or the lease is lost. A request that hangs makes nobody late: the clock tells of the loss. */
  async #renewUntil(ended: AbortSignal): Promise<void> {
    while (!ended.aborted && this.leads) {
      const lost = new AbortController();
      const timer = setTimeout(() => lost.abort(), this.#leadsUntil - this.#options.now());
      const signal = AbortSignal.any([ended, lost.signal]);
      await this.#pause(signal);
      if (!signal.aborted) await Promise.race([this.#tryToHold(signal), whenAborted(signal)]);
      clearTimeout(timer);
    }
  }

  /** Acquires or renews. @returns whether this process leads */
  async #tryToHold(signal: AbortSignal): Promise<boolean> {
    const { leases, onError, now, renewWithinMs } = this.#options;
    const term = this.#term;
    const askedAt = now();
    const patience = AbortSignal.any([signal, AbortSignal.timeout(renewWithinMs)]);
    try {
      const found = await leases.find(patience);
      if (!this.#isFree(found)) {
        this.#leadsUntil = Number.NEGATIVE_INFINITY;
        return false;
      }
      const record = this.#recordAfter(found);
      await (found === undefined ? leases.create(record, patience) : leases.replace(record, patience));
      if (term === this.#term) this.#leadsUntil = askedAt + renewWithinMs;
    } catch (error) {
      // A Conflict is another candidate, or our own request that came through although its answer did not.
      if (!signal.aborted && !(error instanceof Conflict)) onError(error);
    }
    return term === this.#term && this.leads;
  }

  #isFree(found: LeaseRecord | undefined): boolean {
    if (found === undefined || found.holder === "" || found.holder === this.#options.identity) return true;
    const { leaseMs, now } = this.#options;
    const { version: _, ...says } = found;
    const text = JSON.stringify(says);
    if (this.#seen?.text !== text) this.#seen = { text, at: now() };
    // Its leader may have been set to longer leases than we are.
    const longer = found.leaseSeconds > Math.ceil(leaseMs / 1_000) ? found.leaseSeconds * 1_000 : leaseMs;
    return now() - this.#seen.at >= longer;
  }

  #recordAfter(found: LeaseRecord | undefined): LeaseRecord {
    const { identity, leaseMs } = this.#options;
    const time = microTime(Date.now());
    const ours = found?.holder === identity;
    return {
      holder: identity,
      leaseSeconds: Math.ceil(leaseMs / 1_000),
      acquireTime: ours ? found.acquireTime : time,
      renewTime: time,
      transitions: found === undefined ? 0 : found.transitions + (ours ? 0 : 1),
      version: found?.version ?? "",
    };
  }

  /** So that another need not wait for the lease to run out. When it fails, that is all that happens. */
  async #release(): Promise<void> {
    this.#leadsUntil = Number.NEGATIVE_INFINITY;
    const { leases, identity, retryMs } = this.#options;
    const signal = AbortSignal.timeout(retryMs);
    try {
      const found = await leases.find(signal);
      if (found?.holder !== identity) return;
      await leases.replace({ ...found, holder: "", leaseSeconds: 1, renewTime: microTime(Date.now()) }, signal);
    } catch {
      // It runs out by itself.
    }
  }

  #pause(signal: AbortSignal): Promise<void> {
    const { retryMs, random } = this.#options;
    return sleep(retryMs * (1 + random() / 5), undefined, { signal }).catch(() => undefined);
  }
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
