import { GuestIsolate } from "./isolate.ts";
import type { IsolateOptions } from "./isolate-options.ts";

/** What isolates differ in before they have a bundle. */
export interface IsolateKind {
  readonly needsNode: boolean;
  readonly memoryMb: number;
}

const refillAfterMs = 5;
const maxKinds = 3;
/** The preludes alone take up to 8 MB. */
const minMemoryMb = 24;

/** Keeps one isolate ready of each kind that was asked for lately: most of the cost of a cold start is paid before. */
export class Nursery {
  readonly #options: Omit<IsolateOptions, keyof IsolateKind>;
  /** By kind, the latest asked for last. */
  readonly #ready = new Map<string, Promise<GuestIsolate | undefined>>();

  constructor(options: Omit<IsolateOptions, keyof IsolateKind>) {
    this.#options = options;
  }

  async take(kind: IsolateKind): Promise<GuestIsolate> {
    const name = `${kind.needsNode} ${kind.memoryMb}`;
    const ready = this.#ready.get(name);
    this.#ready.delete(name);
    setTimeout(() => this.#refill(name, kind), refillAfterMs);
    return (await ready) ?? (await this.#create(kind));
  }

  #refill(name: string, kind: IsolateKind): void {
    if (this.#ready.has(name)) return;
    // Whoever takes it makes another if this one failed.
    this.#ready.set(
      name,
      this.#create(kind).catch(() => undefined),
    );
    for (const [other, ready] of this.#ready) {
      if (this.#ready.size <= maxKinds) return;
      this.#ready.delete(other);
      void ready.then((guest) => guest?.dispose());
    }
  }

  #create(kind: IsolateKind): Promise<GuestIsolate> {
    return GuestIsolate.create({
      ...this.#options,
      needsNode: kind.needsNode,
      memoryMb: Math.max(minMemoryMb, kind.memoryMb),
    });
  }
}
