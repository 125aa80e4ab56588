import type { SourceResource } from "../../crds/source.ts";
import type { Clock } from "../../domain/clock.ts";
import type { Observed } from "./observe/observed.ts";

const retry = { firstMs: 5_000, maxMs: 15 * 60_000 } as const;

/** Retries of hooks that failed while a version was restored. A new leader finds them again. */
export class HookRetries {
  readonly #clock: Clock;
  readonly #retries = new Map<string, { readonly attempts: number; readonly at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Is a retry due? Delays grow with each attempt. */
  isDue(observed: Observed): boolean {
    const due = this.#retryAt(observed);
    return due !== undefined && due <= this.#clock.now();
  }

  /** Milliseconds until the next retry; undefined without one. */
  afterMs(observed: Observed): number | undefined {
    const due = this.#retryAt(observed);
    return due === undefined ? undefined : Math.max(1, due - this.#clock.now());
  }

  forget({ metadata: { uid } }: SourceResource): void {
    this.#retries.delete(uid);
  }

  #retryAt({ source, deployed, hooks }: Observed): number | undefined {
    const { uid } = source.metadata;
    const record = hooks.activate;
    const hasFailed = deployed?.restores !== undefined && record?.generation === deployed.generation && record.error !== null;
    if (!hasFailed) {
      this.#retries.delete(uid);
      return undefined;
    }
    const known = this.#retries.get(uid);
    if (known?.attempts === record.attempts) return known.at;
    const at = this.#clock.now() + Math.min(retry.maxMs, retry.firstMs * 2 ** (record.attempts - 1));
    this.#retries.set(uid, { attempts: record.attempts, at });
    return at;
  }
}
