/** Work that was begun and has not ended. */
export class Pending {
  readonly #work = new Set<Promise<unknown>>();

  /** It must never reject. */
  add(work: Promise<unknown>): void {
    this.#work.add(work);
    void work.finally(() => this.#work.delete(work)); // Never rejects.
  }

  /** Resolves once everything that has been added so far has ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#work);
  }
}
