import { degradedBy, type RecentOutcomes } from "../outcomes.ts";
import { deploymentProblem, firstLine, shortened, type DeploymentVerdict, type Problem } from "../source/source-health.ts";
import { appliesTo, type DisabledWebhook, type WebhookFailures, type WebhookTarget } from "./webhook-failures.ts";

/**
 * The state is the first row that applies:
 *
 * | state        | when                                                                                        |
 * |--------------|---------------------------------------------------------------------------------------------|
 * | paused       | its spec has `active: false`                                                                 |
 * | disabled     | delivery has disabled it: its endpoint is gone, or has failed for days                       |
 * | failing      | nothing can be posted, such as to a forbidden URL                                            |
 * | circuit_open | so many attempts have failed in a row that only one at a time probes the endpoint            |
 * | failing      | the last attempt has failed                                                                  |
 * | degraded     | the last attempt succeeded, but too few of the recent ones                                   |
 * | active       | otherwise                                                                                    |
 */
export const webhookStates = ["active", "paused", "degraded", "failing", "circuit_open", "disabled"] as const;
export type WebhookState = (typeof webhookStates)[number];

export interface WebhookHealth {
  readonly state: WebhookState;
  readonly problem: Problem | undefined;
  /** Epoch ms until which nothing is posted; undefined unless that is in the future. */
  readonly circuitOpenUntil: number | undefined;
}

/** Of a webhook since it was enabled. */
export interface WebhookOutcomes extends RecentOutcomes {
  /** As delivery has recorded them; undefined: its last attempt succeeded. */
  readonly failures: WebhookFailures | undefined;
}

interface Known {
  readonly target: WebhookTarget;
  readonly isActive: boolean;
  /** Undefined: the operator has not seen the current spec yet. */
  readonly verdict: DeploymentVerdict | undefined;
  readonly disabled: DisabledWebhook | undefined;
  /** Undefined: nothing was posted since it was enabled. */
  readonly outcomes: WebhookOutcomes | undefined;
  /** Epoch ms. */
  readonly now: number;
}

export function webhookHealth({ target, isActive, verdict, disabled, outcomes, now }: Known): WebhookHealth {
  const is = (state: WebhookState, problem?: Problem, circuitOpenUntil?: number): WebhookHealth => ({ state, problem, circuitOpenUntil });
  if (!isActive) return is("paused");
  if (disabled !== undefined)
    return is("disabled", deploymentProblem({ isReady: false, reason: disabled.reason, message: disabled.message, since: disabled.at }));
  if (verdict?.isReady === false && verdict.reason !== changingKey) return is("failing", deploymentProblem(verdict));
  const degraded = degradedBy(outcomes);
  if (outcomes?.failing !== undefined) return failingHealth(outcomes, outcomes.failing, target, now);
  if (outcomes === undefined || degraded === undefined) return is("active");
  const message = `${degraded.count} of the last ${outcomes.total} attempts failed within an hour, the last of them: ${errorOf(outcomes)}`;
  return is("degraded", { code: "attempts_failed", message: shortened(message), since: degraded.since });
}

/** Reason of a webhook whose first signing key is being stored, which takes milliseconds. */
const changingKey = "SigningKeyChanging";

function failingHealth(
  outcomes: WebhookOutcomes,
  failing: NonNullable<WebhookOutcomes["failing"]>,
  target: WebhookTarget,
  now: number,
): WebhookHealth {
  const failures = outcomes.failures !== undefined && appliesTo(outcomes.failures, target) ? outcomes.failures : undefined;
  const { circuitOpenUntil } = failures ?? {};
  const since = Math.min(failing.since, failures?.since ?? failing.since);
  const failed = `${failing.count === 1 ? "the last attempt" : `the last ${failing.count} attempts`} failed: ${errorOf(outcomes)}`;
  if (circuitOpenUntil === undefined)
    return { state: "failing", problem: { code: "attempt_failed", message: shortened(failed), since }, circuitOpenUntil };
  const probing = "The circuit is open: one attempt at a time, every 30 seconds at most, until one succeeds";
  const problem = { code: "circuit_open", message: `${firstLine(failed)}. ${probing}`, since };
  return { state: "circuit_open", problem, circuitOpenUntil: circuitOpenUntil > now ? circuitOpenUntil : undefined };
}

const errorOf = ({ lastError }: RecentOutcomes): string => firstLine(lastError?.message ?? "");
