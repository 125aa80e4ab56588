import type { Endpoint } from "../domain/deployment.ts";

/** Of one owner. All that waits of a partition has an end, and others' requests need a place in it as well. */
const mostKept = 1_000;
const mostOwners = 10_000;

/** What comes for owners over quota: requests that wait for an answer are refused, of the others so many are kept until it is over. */
export class QuotaGate {
  readonly #untilOf: (owner: string) => number;
  /** Requests of owners over quota. */
  readonly #kept = new Map<string, number>();

  /** @param untilOf epoch ms until which the owner's quota is used up; 0: it is not */
  constructor(untilOf: (owner: string) => number) {
    this.#untilOf = untilOf;
  }

  /** Counts the request when it is kept. @returns how long the caller should wait, ms; 0: it is not refused */
  refuses({ owner, customResponse }: Pick<Endpoint, "owner" | "customResponse">, now: number): number {
    if (owner === undefined) return 0;
    const untilMs = this.#untilOf(owner);
    if (untilMs > now) return customResponse || !this.#keeps(owner) ? untilMs - now : 0;
    if (this.#kept.size > 0) this.#kept.delete(owner);
    return 0;
  }

  #keeps(owner: string): boolean {
    const kept = this.#kept.get(owner) ?? 0;
    if (kept === 0 && this.#kept.size >= mostOwners) this.#kept.clear();
    this.#kept.set(owner, kept + 1);
    return kept < mostKept;
  }
}
