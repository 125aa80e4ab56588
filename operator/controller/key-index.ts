/** A many-to-many index between keys and values. */
export class KeyIndex {
  readonly #keys = new Map<string, Set<string>>();
  readonly #values = new Map<string, readonly string[]>();

  keys(value: string): Iterable<string> {
    return this.#keys.get(value) ?? [];
  }

  /** Replaces all values of the key. */
  set(key: string, values: string | undefined | Iterable<string>): void {
    const next = listed(values);
    const before = this.#values.get(key) ?? [];
    if (next.length === before.length && next.every((value, index) => value === before[index])) return;
    for (const value of before) this.#remove(key, value);
    if (next.length === 0) this.#values.delete(key);
    else this.#values.set(key, next);
    for (const value of next) this.#add(key, value);
  }

  clear(): void {
    this.#keys.clear();
    this.#values.clear();
  }

  #add(key: string, value: string): void {
    const keys = this.#keys.get(value);
    if (keys === undefined) this.#keys.set(value, new Set([key]));
    else keys.add(key);
  }

  #remove(key: string, value: string): void {
    const keys = this.#keys.get(value);
    keys?.delete(key);
    if (keys?.size === 0) this.#keys.delete(value);
  }
}

function listed(values: string | undefined | Iterable<string>): readonly string[] {
  if (values === undefined) return [];
  return typeof values === "string" ? [values] : [...values];
}
