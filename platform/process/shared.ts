interface Open<T> {
  readonly value: Promise<T>;
  users: number;
}

/** What roles of one process share, by a key: opened for the first who wants it, closed when the last one lets go. */
export class Shared<Key, T> {
  readonly #open = new Map<Key, Open<T>>();
  readonly #close: (value: T) => Promise<void>;

  constructor(close: (value: T) => Promise<void>) {
    this.#close = close;
  }

  /** @throws what `open` throws; then the next one to want it tries again */
  async use(key: Key, open: () => Promise<T>): Promise<{ readonly value: T; readonly release: () => Promise<void> }> {
    const shared = this.#open.get(key) ?? { value: open(), users: 0 };
    this.#open.set(key, shared);
    shared.users++;
    const letGo = (): boolean => {
      if (--shared.users > 0) return false;
      return this.#open.get(key) === shared && this.#open.delete(key);
    };
    try {
      const value = await shared.value;
      return {
        value,
        release: async () => {
          if (letGo()) await this.#close(value);
        },
      };
    } catch (error) {
      letGo();
      throw error;
    }
  }

  find(key: Key): Promise<T> | undefined {
    return this.#open.get(key)?.value;
  }

  all(): Promise<readonly T[]> {
    return Promise.all([...this.#open.values()].map(({ value }) => value));
  }
}
