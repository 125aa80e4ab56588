import { seeded } from "../support/random.ts";

/** Random numbers that a seed determines, so that a history can be repeated. */
export class Random {
  /** In [0, 1). */
  readonly next: () => number;

  /** @param seed an integer */
  constructor(seed: number) {
    this.next = seeded(seed);
  }

  between(from: number, to: number): number {
    return from + this.next() * (to - from);
  }

  isTrue(probability: number): boolean {
    return this.next() < probability;
  }

  /** Of a Poisson process: the time to its next event. */
  untilNext(meanMs: number): number {
    return -Math.log(1 - this.next()) * meanMs;
  }

  pick<Item>(items: readonly Item[]): Item {
    const picked = items[Math.floor(this.next() * items.length)];
    if (picked === undefined) throw new Error("nothing to pick from");
    return picked;
  }

  /** A generator of its own, which what others draw does not change. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 2 ** 32));
  }

  /** Base62 characters. */
  id(length: number): string {
    const characters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return Array.from({ length }, () => characters[Math.floor(this.next() * characters.length)]).join("");
  }
}
