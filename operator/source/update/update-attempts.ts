import type { SourceResource } from "../../../crds/source.ts";
import { Conflict, HeadwaterError, NotFound } from "../../../domain/errors.ts";
import type { Clock } from "../../../domain/clock.ts";
import type { RunError } from "../../../domain/run-products.ts";
import type { Observed } from "../observe/observed.ts";
import type { Step } from "../plan/step.ts";

const retry = { firstMs: 5_000, maxMs: 15 * 60_000 } as const;

interface Failure {
  /** Identifies the update: generation of the source, and build of its component. */
  readonly generation: number;
  readonly bundle: string | undefined;
  readonly error: RunError;
}

/**
 * What an operator remembers of updates between plans: steps that cannot succeed, and retries of hooks that failed during a restore. Both
 * are found again after a restart.
 */
export class UpdateAttempts {
  readonly #clock: Clock;
  readonly #failures = new Map<string, Failure>();
  readonly #retries = new Map<string, { readonly attempts: number; readonly at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Why a step of the requested update cannot succeed. */
  failureOf({ source, component, deployed }: Observed): RunError | undefined {
    const { uid, generation } = source.metadata;
    const failure = this.#failures.get(uid);
    const isSame = failure?.generation === generation && failure.bundle === component?.status.build?.bundle;
    if (isSame && deployed?.refused?.sourceGeneration !== generation) return failure.error;
    this.#failures.delete(uid); // The entry records it now, or it is another update.
    return undefined;
  }

  /** Remembers the error of a step, if a retry would not help and there is a version to return to. */
  fail({ source, component, fallback }: Observed, step: Step, error: unknown): boolean {
    if (fallback === undefined || !isOfUpdate(step) || !(error instanceof HeadwaterError) || !isLasting(error)) return false;
    const { name, message, code } = error;
    const { uid, generation } = source.metadata;
    this.#failures.set(uid, { generation, bundle: component?.status.build?.bundle, error: { name, message, code } });
    return true;
  }

  /** Is a retry due of a hook that failed during a restore? Delays grow with each attempt. */
  isRetryDue(observed: Observed): boolean {
    const due = this.#retryAt(observed);
    return due !== undefined && due <= this.#clock.now();
  }

  /** Milliseconds until the next retry; undefined without one. */
  retryAfterMs(observed: Observed): number | undefined {
    const due = this.#retryAt(observed);
    return due === undefined ? undefined : Math.max(1, due - this.#clock.now());
  }

  forget({ metadata: { uid } }: SourceResource): void {
    this.#failures.delete(uid);
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

const stepsOfUpdate: ReadonlySet<Step["do"]> = new Set([
  "write-deployment",
  "write-endpoint",
  "remove-endpoint",
  "set-timer",
  "keep-version",
]);

const isOfUpdate = (step: Step): boolean => stepsOfUpdate.has(step.do);

/** Invalid or oversized input fails again; an unreachable server or a concurrent change may not. */
function isLasting(error: HeadwaterError): boolean {
  return error.status < 500 && error.status !== 429 && !(error instanceof Conflict) && !(error instanceof NotFound);
}
