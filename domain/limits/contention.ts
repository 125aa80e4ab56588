/** An owner without activity for this long counts as inactive. */
const activeForMs = 10_000;

interface Activity {
  readonly owner: string;
  at: number;
}

/** Knows whether an owner is alone, or shares a resource with an owner that was active in the last ten seconds. */
export class Contention {
  #last: Activity | undefined;
  /** The last activity of any owner but the last active one. */
  #lastOther: Activity | undefined;

  /** @param now ms of a clock that never goes back */
  noteActive(owner: string, now: number): void {
    if (this.#last?.owner === owner) this.#last.at = now;
    else [this.#lastOther, this.#last] = [this.#last, { owner, at: now }];
  }

  hasOthers(owner: string, now: number): boolean {
    const other = this.#last?.owner === owner ? this.#lastOther : this.#last;
    return other !== undefined && now - other.at < activeForMs;
  }
}
