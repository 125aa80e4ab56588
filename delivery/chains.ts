/** Runs actions of one key one after the other, of different keys side by side. A key costs memory only while something runs. */
export class Chains {
  readonly #tails = new Map<string, Promise<void>>();

  append(key: string, action: () => Promise<void>): Promise<void> {
    const before = this.#tails.get(key);
    const tail = before === undefined ? action() : before.then(action, action);
    this.#tails.set(key, tail);
    const forget = () => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    };
    tail.then(forget, forget);
    return tail;
  }
}
