import type { Resource } from "../../crds/resource.ts";

type State<S, T> = { readonly resource: Resource<S, T> | undefined };

/** One request's view of one resource as it changes. */
export class Following<S, T> {
  readonly of: { readonly namespace: string; readonly name: string };
  readonly #onEnd: () => void;
  #state: State<S, T> | undefined;
  #wake: () => void = () => undefined;

  constructor(of: { namespace: string; name: string }, onEnd: () => void) {
    this.of = of;
    this.#onEnd = onEnd;
  }

  tell(resource: Resource<S, T> | undefined): void {
    this.#state = { resource };
    this.#wake();
  }

  /** The first answer that `read` gives of the resource (undefined: it is gone); undefined when the signal aborts before. */
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
