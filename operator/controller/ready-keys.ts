/** After this many changed keys in a row one background key runs, so that neither class starves. */
const maxChangedInARow = 4;

type Priority = "changed" | "background";

/** Keys ready to run, each once, first in first out within their class. */
export class ReadyKeys {
  readonly #since: Readonly<Record<Priority, Map<string, number>>> = { changed: new Map(), background: new Map() };
  #changedInARow = 0;

  get size(): number {
    return this.#since.changed.size + this.#since.background.size;
  }

  has(key: string): boolean {
    return this.#since.changed.has(key) || this.#since.background.has(key);
  }

  /** A change promotes a background key. @returns whether the key was new */
  add(key: string, priority: Priority, now: number): boolean {
    const { changed, background } = this.#since;
    if (changed.has(key)) return false;
    const waiting = background.get(key);
    if (priority === "background") {
      if (waiting === undefined) background.set(key, now);
      return waiting === undefined;
    }
    background.delete(key);
    changed.set(key, waiting ?? now);
    return waiting === undefined;
  }

  /** Removes and returns the next key that may run, with the time at which it was added. */
  take(mayRun: (key: string) => boolean): { readonly key: string; readonly since: number } | undefined {
    const order: readonly Priority[] = this.#changedInARow < maxChangedInARow ? ["changed", "background"] : ["background", "changed"];
    for (const priority of order) {
      for (const [key, since] of this.#since[priority]) {
        if (!mayRun(key)) continue;
        this.#since[priority].delete(key);
        this.#changedInARow = priority === "changed" ? this.#changedInARow + 1 : 0;
        return { key, since };
      }
    }
    return undefined;
  }

  clear(): void {
    this.#since.changed.clear();
    this.#since.background.clear();
  }
}
