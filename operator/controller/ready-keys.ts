/** After so many changed keys in a row one from the background is taken: changes go first and starve nobody. */
const changedInARow = 4;

type How = "changed" | "background";

/** Keys that are ready, each once, first come first served within their class. */
export class ReadyKeys {
  readonly #since: Readonly<Record<How, Map<string, number>>> = { changed: new Map(), background: new Map() };
  #inARow = 0;

  get size(): number {
    return this.#since.changed.size + this.#since.background.size;
  }

  has(key: string): boolean {
    return this.#since.changed.has(key) || this.#since.background.has(key);
  }

  /** A change of a key in the background moves it forward. @returns whether it was not there */
  add(key: string, how: How, now: number): boolean {
    const { changed, background } = this.#since;
    if (changed.has(key)) return false;
    const waiting = background.get(key);
    if (how === "background") {
      if (waiting === undefined) background.set(key, now);
      return waiting === undefined;
    }
    background.delete(key);
    changed.set(key, waiting ?? now);
    return waiting === undefined;
  }

  /** The next key that may be worked on, with the time at which it came. */
  take(mayRun: (key: string) => boolean): { readonly key: string; readonly since: number } | undefined {
    const order: readonly How[] = this.#inARow < changedInARow ? ["changed", "background"] : ["background", "changed"];
    for (const how of order) {
      for (const [key, since] of this.#since[how]) {
        if (!mayRun(key)) continue;
        this.#since[how].delete(key);
        this.#inARow = how === "changed" ? this.#inARow + 1 : 0;
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
