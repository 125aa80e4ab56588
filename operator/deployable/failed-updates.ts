import { HeadwaterError } from "../../domain/errors.ts";
import type { RunError } from "../../domain/run-products.ts";

/** Steps that can never succeed, by uid. A new leader finds them again. */
export class FailedUpdates {
  readonly #failures = new Map<string, { readonly update: string; readonly error: RunError }>();

  /** Forgets a failure of another update: that one is tried again if it is requested again. */
  find(uid: string, update: string): RunError | undefined {
    const failure = this.#failures.get(uid);
    if (failure?.update === update) return failure.error;
    this.#failures.delete(uid);
    return undefined;
  }

  add(uid: string, update: string, error: Error): void {
    const { name, message } = error;
    const code = error instanceof HeadwaterError ? { code: error.code } : {};
    this.#failures.set(uid, { update, error: { name, message, ...code } });
  }

  forget(uid: string): void {
    this.#failures.delete(uid);
  }
}
