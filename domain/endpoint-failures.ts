/**
 * How the endpoint of a webhook fails. One that says 410 Gone, or at which nothing has arrived for days, is disabled: nothing is
 * posted there any more until somebody says that it is back. Another URL begins afresh, and so does `enabledAt`.
 */
export interface EndpointFailures {
  readonly webhook: string;
  readonly url: string;
  /** Epoch ms of the first failure after the last success. */
  readonly since: number;
  /** Epoch ms of the latest failure, to within {@link precisionMs}. */
  readonly last: number;
  readonly disabled?: DisabledEndpoint;
}

export interface DisabledEndpoint {
  /** Epoch ms. */
  readonly at: number;
  readonly reason: "EndpointGone" | "EndpointFailing";
  /** A sentence for people. */
  readonly message: string;
}

/** Where a webhook posts to. */
export interface PostedTo {
  readonly id: string;
  readonly url: string;
  /** Epoch ms at which somebody said that it is to be tried again; what failed before counts no more. */
  readonly enabledAt?: number;
}

export interface EndpointFailure {
  /** Epoch ms. */
  readonly at: number;
  /** It says that it will never listen again. */
  readonly isGone: boolean;
  readonly error: string;
}

/** A failing endpoint costs a write now and then, not one for each attempt. */
const precisionMs = 10 * 60_000;
/** Nothing was posted for so long: that it failed before says nothing of the time between. */
const longestSilenceMs = 2 * 86_400_000;
const dayMs = 86_400_000;

/** What is known after one more failure; the same object when nothing of it has to be remembered. */
export function rememberFailure(
  known: EndpointFailures | undefined,
  { id: webhook, url, enabledAt = 0 }: PostedTo,
  { at, isGone, error }: EndpointFailure,
  disableAfterMs: number,
): EndpointFailures {
  const goesOn = known !== undefined && known.url === url && known.since >= enabledAt && at - known.last <= longestSilenceMs;
  if (goesOn && known.disabled !== undefined) return known;
  const failures = goesOn ? known : { webhook, url, since: at, last: at };
  if (isGone) return { ...failures, last: at, disabled: { at, reason: "EndpointGone", message: gone(webhook) } };
  if (at - failures.since >= disableAfterMs)
    return { ...failures, last: at, disabled: { at, reason: "EndpointFailing", message: failing(webhook, at - failures.since, error) } };
  return at - failures.last < precisionMs ? failures : { ...failures, last: at };
}

/** Why nothing may be posted there; undefined when it may. */
export function disabledOf(known: Pick<EndpointFailures, "url" | "disabled"> | undefined, to: PostedTo): DisabledEndpoint | undefined {
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
