import { aborted, pause } from "../../domain/retry.ts";
import { Conflict } from "../../domain/errors.ts";
import { microTime, type LeaseRecord, type Leases } from "./leases.ts";

export interface ElectionOptions {
  readonly leases: Leases;
  /** Unique per process. */
  readonly identity: string;
  /** For how long other candidates wait after they saw a renewal. Default 15 s. */
  readonly leaseMs?: number;
  /** A leader that has not renewed for this long stops leading; its work has the rest of the lease to end. Default 10 s. */
  readonly renewWithinMs?: number;
  /** Time between attempts to acquire or renew, plus up to a fifth at random. Default 2 s. */
  readonly retryMs?: number;
  /** Monotonic clock of this process, ms. */
  readonly now?: () => number;
  /** In [0, 1). */
  readonly random?: () => number;
  readonly onError: (error: unknown) => void;
  readonly onChange?: (leads: boolean) => void;
  /** The leader's work did not end in time: this process must exit before another leads. */
  readonly onStuck: () => void;
}

/**
 * Elects one leader with a Lease of the Kubernetes API, by the rules of client-go's `leaderelection`.
 *
 * Clocks are never compared. A candidate takes over after it has seen the same record for the whole lease by its own clock; a leader counts
 * from before it sent its last successful renewal. So a leader has stopped before another takes over, provided that clocks run at about the
 * same rate and its work ends in time; otherwise `onStuck` ends the process.
 */
export class Election {
  readonly #options: Required<Omit<ElectionOptions, "onChange">> & Pick<ElectionOptions, "onChange">;
  readonly #stop = new AbortController();
  /** The lease's content, and since when it is unchanged by our clock. */
  #observed: { readonly text: string; readonly at: number } | undefined;
  /** When this process' leadership ends, by its own clock. */
  #leadsUntil = Number.NEGATIVE_INFINITY;
  /** A response that arrives after its term has ended must not revive the term. */
  #term = 0;

  constructor(options: ElectionOptions) {
    const now = (): number => performance.now();
    this.#options = { leaseMs: 15_000, renewWithinMs: 10_000, retryMs: 2_000, now, random: Math.random, ...options };
  }

  /** May this process act as leader? Computed from the clock, so it turns false without a timer. */
  get leads(): boolean {
    return this.#options.now() < this.#leadsUntil;
  }

  /**
   * Calls `lead` whenever the lease is acquired. Its signal aborts on loss or stop; on stop the lease is released once `lead` has ended.
   */
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
      const isHeld = await this.#acquireOrRenew(signal);
      // Stopped during the request: `lead` must not start, because its signal would never abort.
      if (isHeld && signal.aborted) await this.#release();
      else if (isHeld) await this.#lead(lead);
      await this.#pause(signal);
    }
  }

  /** From acquiring the lease until all work of the leader has ended. */
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

  /** Renews until the leader's work ends or the lease is lost. A hanging request does not delay that: the clock decides. */
  async #renewUntil(ended: AbortSignal): Promise<void> {
    while (!ended.aborted && this.leads) {
      const lost = new AbortController();
      const timer = setTimeout(() => lost.abort(), this.#leadsUntil - this.#options.now());
      const signal = AbortSignal.any([ended, lost.signal]);
      await this.#pause(signal);
      if (!signal.aborted) await Promise.race([this.#acquireOrRenew(signal), aborted(signal)]);
      clearTimeout(timer);
    }
  }

  /** Acquires or renews. @returns whether this process leads */
  async #acquireOrRenew(signal: AbortSignal): Promise<boolean> {
    const { leases, onError, now, renewWithinMs } = this.#options;
    const term = this.#term;
    const requestedAt = now();
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(renewWithinMs)]);
    try {
      const found = await leases.find(timeout);
      if (!this.#isAvailable(found)) {
        this.#leadsUntil = Number.NEGATIVE_INFINITY;
        return false;
      }
      const record = this.#nextRecord(found);
      await (found === undefined ? leases.create(record, timeout) : leases.replace(record, timeout));
      if (term === this.#term) this.#leadsUntil = requestedAt + renewWithinMs;
    } catch (error) {
      // A Conflict means another candidate, or our own request, which succeeded although its response was lost.
      if (!signal.aborted && !(error instanceof Conflict)) onError(error);
    }
    return term === this.#term && this.leads;
  }

  #isAvailable(found: LeaseRecord | undefined): boolean {
    if (found === undefined || found.holder === "" || found.holder === this.#options.identity) return true;
    const { leaseMs, now } = this.#options;
    const { version: _, ...content } = found;
    const text = JSON.stringify(content);
    if (this.#observed?.text !== text) this.#observed = { text, at: now() };
    // The holder may be configured with a longer lease than ours.
    const waitMs = found.leaseSeconds > Math.ceil(leaseMs / 1_000) ? found.leaseSeconds * 1_000 : leaseMs;
    return now() - this.#observed.at >= waitMs;
  }

  #nextRecord(found: LeaseRecord | undefined): LeaseRecord {
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

  /** Best effort, so that another candidate need not wait for the lease to expire. */
  async #release(): Promise<void> {
    this.#leadsUntil = Number.NEGATIVE_INFINITY;
    const { leases, identity, retryMs } = this.#options;
    const signal = AbortSignal.timeout(retryMs);
    try {
      const found = await leases.find(signal);
      if (found?.holder !== identity) return;
      await leases.replace({ ...found, holder: "", leaseSeconds: 1, renewTime: microTime(Date.now()) }, signal);
    } catch {
      // The lease expires by itself.
    }
  }

  #pause(signal: AbortSignal): Promise<void> {
    const { retryMs, random } = this.#options;
    return pause(retryMs * (1 + random() / 5), signal);
  }
}
