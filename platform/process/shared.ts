interface Open<T> {
  readonly value: Promise<T>;
  users: number;
}

/** Values that roles of one process share, by key. The first user opens a value, the last one to release it closes it. */
export class Shared<Key, T> {
  readonly #open = new Map<Key, Open<T>>();
  readonly #close: (value: T) => Promise<void>;

  constructor(close: (value: T) => Promise<void>) {
    this.#close = close;
  }

  /** @throws what `open` throws; the next call then tries again */
  async use(key: Key, open: () => Promise<T>): Promise<{ readonly value: T; readonly release: () => Promise<void> }> {
    const shared = this.#open.get(key) ?? { value: open(), users: 0 };
    this.#open.set(key, shared);
    shared.users++;
    const removeUser = (): boolean => {
      if (--shared.users > 0) return false;
      return this.#open.get(key) === shared && this.#open.delete(key);
    };
    try {
      const value = await shared.value;
      return {
        value,
        release: async () => {
          if (removeUser()) await this.#close(value);
        },
      };
    } catch (error) {
      removeUser();
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
