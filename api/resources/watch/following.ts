import type { Resource } from "../../../crds/resource.ts";

type State<S, T> = { readonly resource: Resource<S, T> | undefined };

/** Follows the changes of one resource for one request. */
export class Following<S, T> {
  readonly of: { readonly namespace: string; readonly name: string };
  readonly #onEnd: () => void;
  #state: State<S, T> | undefined;
  #wake: () => void = () => undefined;

  constructor(of: { namespace: string; name: string }, onEnd: () => void) {
    this.of = of;
    this.#onEnd = onEnd;
  }

  notify(resource: Resource<S, T> | undefined): void {
    this.#state = { resource };
    this.#wake();
  }

  /** Resolves with the first defined result of `read`, which gets undefined for a deleted resource; undefined if the signal aborts first. */
  async until<V>(read: (resource: Resource<S, T> | undefined) => V | undefined, signal: AbortSignal): Promise<V | undefined> {
    const onAbort = (): void => this.#wake();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      while (!signal.aborted) {
        const found = this.#state === undefined ? undefined : read(this.#state.resource);
        if (found !== undefined) return found;
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#wake = resolve;
        await promise;
      }
      return undefined;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  end(): void {
    this.#onEnd();
  }
}
