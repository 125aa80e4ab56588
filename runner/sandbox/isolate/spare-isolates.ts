import { GuestContext } from "./context.ts";
import { limits } from "../limits.ts";
import { GuestIsolate, type IsolateOptions } from "./isolate.ts";

/** What isolates differ in before they have a bundle. */
export interface IsolateKind {
  readonly needsNode: boolean;
  readonly memoryMb: number;
}

const maxKinds = 3;
/** The preludes alone take up to 8 MB. */
const minMemoryMb = 24;

/** Keeps one isolate with one context ready for each kind that was used lately: most of the cost of a cold start is paid before. */
export class Nursery {
  readonly #options: Omit<IsolateOptions, keyof IsolateKind>;
  /** By kind, the one used last at the end. */
  readonly #ready = new Map<string, Promise<GuestContext | undefined>>();

  constructor(options: Omit<IsolateOptions, keyof IsolateKind>) {
    this.#options = options;
  }

  /** @returns the first context of an isolate that belongs to the owner from now on */
  async take(kind: IsolateKind, owner: string): Promise<GuestContext> {
    const name = `${kind.needsNode} ${kind.memoryMb}`;
    const ready = this.#ready.get(name);
    this.#ready.delete(name);
    setTimeout(() => this.#refill(name, kind), limits.refillAfterMs);
    const context = (await ready) ?? (await this.#create(kind));
    context.isolate.owner = owner;
    return context;
  }

  #refill(name: string, kind: IsolateKind): void {
    if (this.#ready.has(name)) return;
    // If this fails, `take` tries again and reports the error.
    this.#ready.set(
      name,
      this.#create(kind).catch(() => undefined),
    );
    for (const [other, ready] of this.#ready) {
      if (this.#ready.size <= maxKinds) return;
      this.#ready.delete(other);
      void ready.then((context) => context?.isolate.dispose());
    }
  }

  #create(kind: IsolateKind): Promise<GuestContext> {
    const memoryMb = Math.max(minMemoryMb, kind.memoryMb);
    return GuestContext.create(new GuestIsolate({ ...this.#options, needsNode: kind.needsNode, memoryMb }));
  }
}
