/**
 * Failures of a webhook's endpoint. An endpoint that returns 410 Gone, or that has failed for days, is disabled: nothing is
 * posted to it until its owner enables it. Another URL or `enabledAt` resets the failures.
 */
export interface WebhookFailures {
  readonly webhook: string;
  readonly url: string;
  /** Epoch ms of the first failure after the last success. */
  readonly since: number;
  /** Epoch ms of the latest failure, to within {@link precisionMs}. */
  readonly last: number;
  readonly disabled?: DisabledWebhook;
}

export interface DisabledWebhook {
  /** Epoch ms. */
  readonly at: number;
  readonly reason: "EndpointGone" | "EndpointFailing";
  /** Explanation for people. */
  readonly message: string;
}

/** Target of a webhook. */
export interface WebhookTarget {
  readonly id: string;
  readonly url: string;
  /** Epoch ms at which the owner enabled it; earlier failures do not count. */
  readonly enabledAt?: number;
}

export interface AttemptFailure {
  /** Epoch ms. */
  readonly at: number;
  /** It returned 410 Gone. */
  readonly isGone: boolean;
  readonly error: string;
}

/** Precision of recorded failures, to avoid a write for each attempt. */
const precisionMs = 10 * 60_000;
/** After so long without a post, earlier failures do not count. */
const longestSilenceMs = 2 * 86_400_000;
const dayMs = 86_400_000;

/** The state after one more failure; the same object if nothing has to be stored. */
export function recordFailure(
  known: WebhookFailures | undefined,
  { id: webhook, url, enabledAt = 0 }: WebhookTarget,
  { at, isGone, error }: AttemptFailure,
  disableAfterMs: number,
): WebhookFailures {
  const goesOn = known !== undefined && known.url === url && known.since >= enabledAt && at - known.last <= longestSilenceMs;
  if (goesOn && known.disabled !== undefined) return known;
  const failures = goesOn ? known : { webhook, url, since: at, last: at };
  if (isGone) return { ...failures, last: at, disabled: { at, reason: "EndpointGone", message: gone(webhook) } };
  if (at - failures.since >= disableAfterMs)
    return { ...failures, last: at, disabled: { at, reason: "EndpointFailing", message: failing(webhook, at - failures.since, error) } };
  return at - failures.last < precisionMs ? failures : { ...failures, last: at };
}

/** Why nothing is posted to it; undefined if it is not disabled. */
export function disabledOf(known: Pick<WebhookFailures, "url" | "disabled"> | undefined, to: WebhookTarget): DisabledWebhook | undefined {
  if (known?.disabled === undefined || known.url !== to.url) return undefined;
  return known.disabled.at >= (to.enabledAt ?? 0) ? known.disabled : undefined;
}

const remedy = (webhook: string): string =>
  `It is disabled, and what is for it becomes dead letters, until PUT /v1/webhooks/${webhook} with {"active": true}, another URL, or a new 'enabledAt' in the resource`;

const gone = (webhook: string): string =>
  `the endpoint of webhook ${webhook} answered 410 Gone: it will never listen again. ${remedy(webhook)}`;

function failing(webhook: string, forMs: number, error: string): string {
  return `nothing has arrived at the endpoint of webhook ${webhook} for ${lengthOf(forMs)}; the last attempt: ${error}. ${remedy(webhook)}`;
}

function lengthOf(ms: number): string {
  const days = Math.floor(ms / dayMs);
  if (days > 0) return days === 1 ? "a day" : `${days} days`;
  const minutes = Math.ceil(ms / 60_000);
  return minutes === 1 ? "a minute" : `${minutes} minutes`;
}
