/**
 * Consecutive failures of a webhook. A webhook that returns 410 Gone, or that has failed for days, is disabled: nothing is posted to it
 * until its owner enables it. Another URL or `enabledAt` resets the failures.
 */
export interface WebhookFailures {
  readonly webhook: string;
  readonly url: string;
  /** Epoch ms of the first failure after the last success. */
  readonly since: number;
  /** Epoch ms of the latest failure, to within {@link precisionMs}. */
  readonly last: number;
  /** Epoch ms until which its circuit is or was open; absent: it has not opened since the last success. */
  readonly circuitOpenUntil?: number;
  readonly disabled?: DisabledWebhook;
}

export interface DisabledWebhook {
  /** Epoch ms. */
  readonly at: number;
  readonly reason: "EndpointGone" | "EndpointFailing";
  /** Explanation for people. */
  readonly message: string;
}

/** What failures are counted for: a webhook at its URL, from the time it was enabled. */
export interface WebhookTarget {
  readonly id: string;
  readonly url: string;
  /** Epoch ms at which the owner enabled it; earlier failures do not count. */
  readonly enabledAt?: number;
}

export interface AttemptFailure {
  /** Epoch ms. */
  readonly at: number;
  /** Whether it returned 410 Gone. */
  readonly isGone: boolean;
  readonly error: string;
  /** Epoch ms; undefined: its circuit is closed. */
  readonly circuitOpenUntil?: number | undefined;
}

/** Precision of recorded failures, to avoid a write for each attempt. */
const precisionMs = 10 * 60_000;
/** After this time without an attempt, earlier failures do not count. */
const maxSilenceMs = 2 * 86_400_000;
const dayMs = 86_400_000;

/** The state after one more failure; the same object if nothing has to be stored. */
export function recordFailure(
  known: WebhookFailures | undefined,
  target: WebhookTarget,
  { at, isGone, error, circuitOpenUntil }: AttemptFailure,
  disableAfterMs: number,
): WebhookFailures {
  const { id: webhook, url } = target;
  const continues = known !== undefined && appliesTo(known, target) && at - known.last <= maxSilenceMs;
  if (continues && known.disabled !== undefined) return known;
  const failures = continues ? known : { webhook, url, since: at, last: at };
  if (isGone) return { ...failures, last: at, disabled: { at, reason: "EndpointGone", message: goneMessage(webhook) } };
  if (at - failures.since >= disableAfterMs) {
    const message = failingMessage(webhook, at - failures.since, error);
    return { ...failures, last: at, disabled: { at, reason: "EndpointFailing", message } };
  }
  // Another replica may know that the circuit is open for longer.
  const openUntil = Math.max(circuitOpenUntil ?? 0, failures.circuitOpenUntil ?? 0);
  const isOpenLonger = openUntil > (failures.circuitOpenUntil ?? 0);
  if (at - failures.last < precisionMs && !isOpenLonger) return failures;
  return { ...failures, last: at, ...(openUntil === 0 ? {} : { circuitOpenUntil: openUntil }) };
}

/** Are the failures those of the webhook's current URL, since it was enabled? */
export function appliesTo(known: Pick<WebhookFailures, "url" | "since">, { url, enabledAt = 0 }: WebhookTarget): boolean {
  return known.url === url && known.since >= enabledAt;
}

/** Why nothing is posted to the webhook; undefined if it is not disabled. */
export function disabledOf(known: Pick<WebhookFailures, "url" | "disabled"> | undefined, to: WebhookTarget): DisabledWebhook | undefined {
  if (known?.disabled === undefined || known.url !== to.url) return undefined;
  return known.disabled.at >= (to.enabledAt ?? 0) ? known.disabled : undefined;
}

const remedy = (webhook: string): string =>
  `It is disabled, and its deliveries become dead letters. Enable it with PUT /v1/webhooks/${webhook} and {"active": true} or another URL, or with a new 'enabledAt' in the resource`;

const goneMessage = (webhook: string): string => `the endpoint of webhook ${webhook} answered 410 Gone. ${remedy(webhook)}`;

function failingMessage(webhook: string, forMs: number, error: string): string {
  return `no delivery to the endpoint of webhook ${webhook} has succeeded for ${durationText(forMs)}; the last attempt: ${error}. ${remedy(webhook)}`;
}

function durationText(ms: number): string {
  const days = Math.floor(ms / dayMs);
  if (days > 0) return days === 1 ? "a day" : `${days} days`;
  const minutes = Math.ceil(ms / 60_000);
  return minutes === 1 ? "a minute" : `${minutes} minutes`;
}
