/** Sequences of the numbers of invocations that are here, by how many messages have them. */
export class OpenNumbers {
  readonly #messages = new Map<number, number>();

  has(seq: number): boolean {
    return this.#messages.has(seq);
  }

  enter(seqs: Iterable<number>): void {
    for (const seq of seqs) this.#messages.set(seq, (this.#messages.get(seq) ?? 0) + 1);
  }

  leave(seqs: Iterable<number>): void {
    for (const seq of seqs) {
      const left = (this.#messages.get(seq) ?? 0) - 1;
      if (left > 0) this.#messages.set(seq, left);
      else this.#messages.delete(seq);
    }
  }
}
