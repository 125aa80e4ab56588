import { killWindowMs } from "../../../domain/run/kills.ts";

interface Suspect {
  /** Epoch ms. */
  readonly until: number;
  /** Processes that the owner's runs cost, each soon after the one before. */
  readonly lossesInRow: number;
  /** Epoch ms; 0: none. */
  readonly lastLossAt: number;
}

const startDelayMs = { first: 200, max: 5_000 };
/** A loss this long after the previous one is the first of a new row. */
const rowGapMs = 20_000;

/** Owners with a run that recently killed its process or filled its memory. Their runs get an exclusive child. */
export class Suspects {
  /** The oldest entry first. */
  readonly #byOwner = new Map<string, Suspect>();

  add(owner: string, costProcess: boolean): void {
    const now = Date.now();
    for (const [other, { until }] of this.#byOwner) if (until <= now) this.#byOwner.delete(other);
    const { lossesInRow = 0, lastLossAt = 0 } = this.#byOwner.get(owner) ?? {};
    const losses = costProcess
      ? { lossesInRow: now - lastLossAt > rowGapMs ? 1 : lossesInRow + 1, lastLossAt: now }
      : { lossesInRow, lastLossAt };
    this.#byOwner.set(owner, { until: now + killWindowMs, ...losses });
  }

  has(owner: string): boolean {
    return (this.#byOwner.get(owner)?.until ?? 0) > Date.now();
  }

  /** How long the owner's next child must wait, ms: starting processes costs the other owners time. */
  startDelayMs(owner: string): number {
    const { lossesInRow = 0, lastLossAt = 0 } = this.#byOwner.get(owner) ?? {};
    if (lossesInRow === 0) return 0;
    const delayMs = Math.min(startDelayMs.max, startDelayMs.first * 2 ** (lossesInRow - 1));
    return Math.max(0, lastLossAt + delayMs - Date.now());
  }
}

/**
 * Sources that recently ended the isolate that they were in, by computing without a pause or by filling its memory. They run in an
 * isolate of their own, so that they interrupt the runs of other sources only once.
 */
export class SourcesApart {
  /** Source → epoch ms; the oldest entry first. */
  readonly #until = new Map<string, number>();

  add(source: string): void {
    const now = Date.now();
    this.#until.delete(source);
    this.#until.set(source, now + killWindowMs);
    for (const [other, until] of this.#until) {
      if (until > now) return;
      this.#until.delete(other);
    }
  }

  has(source: string): boolean {
    return (this.#until.get(source) ?? 0) > Date.now();
  }
}
