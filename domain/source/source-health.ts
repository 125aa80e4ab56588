import { disabledCode } from "../run/kills.ts";
import type { RunError } from "../run-products.ts";

/**
 * The state is the first row that applies:
 *
 * | state     | when                                                                                                  |
 * |-----------|-------------------------------------------------------------------------------------------------------|
 * | paused    | the running version has `active: false`                                                               |
 * | deploying | the operator has not finished the last change, which has not failed so far                            |
 * | disabled  | runners refuse to run it, because its runs killed their processes                                     |
 * | failing   | the last change could not be deployed, an account must be connected again, or the last run has failed |
 * | active    | otherwise                                                                                             |
 */
export const healthStates = ["active", "paused", "failing", "disabled", "deploying"] as const;
export type HealthState = (typeof healthStates)[number];

/** Why something does not work. */
export interface Problem {
  /** Stable and snake_case: that of the run's error, or the reason of the condition `Ready` or `AccountsConnected`. */
  readonly code: string;
  readonly message: string;
  /** Epoch ms. */
  readonly since: number;
}

export interface SourceHealth {
  readonly state: HealthState;
  readonly problem: Problem | undefined;
}

/** What the operator reports about the current spec. */
export interface DeploymentVerdict {
  readonly isReady: boolean;
  /** Reason of the condition `Ready`, in CamelCase. */
  readonly reason: string;
  readonly message: string;
  /** Epoch ms at which it became ready, or stopped being ready. */
  readonly since: number;
}

/** The latest runs of one deployment, if all of them have failed. */
export interface FailedRuns {
  readonly deployment: string;
  /** Number of stored ones; at least 1. */
  readonly count: number;
  /** Epoch ms of the start of the first. */
  readonly since: number;
  readonly error: Pick<RunError, "name" | "message" | "code">;
}

/** A source's latest runs in the history. */
export interface LatestRuns {
  /** Epoch ms at which the last run began. */
  readonly lastRunAt: number;
  /** The last stored failed run, which may be older than the last run. */
  readonly lastError: (FailedRuns["error"] & { readonly at: number }) | undefined;
  /** Undefined: the last run succeeded. */
  readonly failing: FailedRuns | undefined;
}

/** Reasons of a deployment in progress. All other reasons are problems. */
export const progressReasons: readonly string[] = ["Updating", "HookRunning", "ComponentNotBuilt", "AdditionalPropsPending"];
/** Reason of a source that runners refuse to run, see `kills.ts`. */
export const disabledReason = "SourceDisabled";
/** Code of a failed run whose error has none: user code threw it. */
export const runFailedCode = "run_failed";

const maxMessageLength = 500;

/**
 * @param verdict undefined: the operator has not seen the current spec yet
 * @param deployment `d_…` of the running deployment; failed runs of earlier ones do not count
 * @param accounts why an account that it uses must be connected again: the cause of failed runs that it has
 */
export function healthOf(source: {
  readonly isActive: boolean;
  readonly verdict: DeploymentVerdict | undefined;
  readonly deployment: string | undefined;
  readonly accounts?: Problem | undefined;
  readonly failing?: FailedRuns | undefined;
}): SourceHealth {
  const { isActive, verdict, deployment, accounts, failing } = source;
  const isUnderWay = verdict === undefined || (!verdict.isReady && progressReasons.includes(verdict.reason));
  const problem = isUnderWay || verdict.isReady ? accounts : deploymentProblem(verdict);
  if (!isActive) return { state: "paused", problem };
  if (isUnderWay) return { state: "deploying", problem };
  if (problem !== undefined) return { state: verdict.reason === disabledReason ? "disabled" : "failing", problem };
  if (failing === undefined || failing.deployment !== deployment) return { state: "active", problem };
  return { state: failing.error.code === disabledCode ? "disabled" : "failing", problem: runProblem(failing) };
}

/** One line of the error, without its stack. */
export function errorLine({ name, message }: Pick<RunError, "name" | "message">): string {
  return firstLine(`${name}: ${message}`);
}

/** At most 500 characters of it. */
export function firstLine(text: string): string {
  return shortened(text.split("\n", 1)[0] ?? "");
}

export function deploymentProblem({ reason, message, since }: DeploymentVerdict): Problem {
  return { code: snakeCase(reason), message: shortened(message), since };
}

function runProblem({ error, count, since }: FailedRuns): Problem {
  const message =
    error.code === disabledCode ? error.message : `${count === 1 ? "the last run" : `the last ${count} runs`} failed: ${errorLine(error)}`;
  return { code: error.code ?? runFailedCode, message: shortened(message), since };
}

const snakeCase = (reason: string): string => reason.replaceAll(/(?<!^)([A-Z])/g, "_$1").toLowerCase();

/** At most 500 characters. */
export const shortened = (text: string): string =>
  text.length <= maxMessageLength ? text : `${text.slice(0, maxMessageLength - 1).toWellFormed()}…`;
