/** Since when an owner counts as gone, ms. */
const activeForMs = 10_000;

/** Which owners were active lately, as far as it takes to tell whether one of them is alone. */
export class Neighbours {
  #last: { readonly owner: string; at: number } | undefined;
  /** Of the owners but the last active one. */
  #lastOther: { readonly owner: string; readonly at: number } | undefined;

  /** The owner does something now, ms from anywhere. */
  sawActive(owner: string, now: number): void {
    if (this.#last?.owner === owner) this.#last.at = now;
    else [this.#lastOther, this.#last] = [this.#last, { owner, at: now }];
  }

  /** Whether somebody else was active in the last ten seconds. */
  has(owner: string, now: number): boolean {
    const other = this.#last?.owner === owner ? this.#lastOther : this.#last;
    return other !== undefined && now - other.at < activeForMs;
  }
}
