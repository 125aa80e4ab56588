import { HeadwaterError, Unavailable } from "../domain/errors.ts";
import { refuse } from "./errors.ts";

/** `wait` and `install` end in 503: other builds or the registry were slow. The other steps end in 422: the component is slow. */
export type Step = "wait" | "scan" | "install" | "bundle" | "inspect" | "store";

export interface Deadline {
  readonly signal: AbortSignal;
  /** Runs a step. Rejects when the time of the whole build is over. */
  during<T>(step: Step, work: Promise<T>): Promise<T>;
  /** Like `run`, for a step that waits for its turn: until it calls `begin`, other builds use the time. */
  inTurn<T>(step: Step, enter: (begin: () => void) => Promise<T>): Promise<T>;
  end(): void;
}

const sentences: Readonly<Record<Step, string>> = {
  wait: "waiting for other builds",
  scan: "reading the imports",
  install: "installing packages",
  bundle: "bundling",
  inspect: "evaluating the component",
  store: "storing the bundle",
};

/** One time limit for all steps of a build. The error names the step that was running. */
export function startDeadline(ms: number): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), ms);
  async function within<T>(step: () => Step, work: Promise<T>): Promise<T> {
    if (controller.signal.aborted) throw exceeded(step(), ms);
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const abort = (): void => reject(exceeded(step(), ms));
    controller.signal.addEventListener("abort", abort);
    try {
      return await Promise.race([work, aborted]);
    } catch (error) {
      throw controller.signal.aborted && !(error instanceof HeadwaterError) ? exceeded(step(), ms) : error;
    } finally {
      controller.signal.removeEventListener("abort", abort);
    }
  }
  return {
    signal: controller.signal,
    end: () => clearTimeout(timer),
    during: (step, work) => within(() => step, work),
    inTurn: (step, enter) => {
      let at: Step = "wait";
      return within(
        () => at,
        enter(() => {
          at = step;
        }),
      );
    },
  };
}

function exceeded(step: Step, ms: number): Error {
  const message = `the build took longer than ${ms / 1_000} s; it was ${sentences[step]}`;
  const isOurs = step === "wait" || step === "install" || step === "store";
  return isOurs ? new Unavailable(message, { code: "build_timeout", details: { step } }) : refuse("build_timeout", message, { text: step });
}
