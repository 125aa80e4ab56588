/**
 * Refusals of the host in this run: egress to private addresses, connections and calls over a limit. A refusal costs the host as much as
 * a call that succeeds, so after {@link maxRefusals} of them the guest refuses without asking the host.
 */
const maxRefusals = 1_000;

/** The error as the host would report it. */
export interface Refusal {
  readonly message: string;
  readonly code: string;
}

let refusals = 0;

export function noteRefusal(code: unknown): void {
  if (code === "egress_denied" || code === "limit_exceeded" || code === "bridge_limit") refusals += 1;
}

/** The refusal to return without asking the host; undefined if the host may be asked. */
export function refusal(): Refusal | undefined {
  if (refusals < maxRefusals) return undefined;
  const message = `${maxRefusals} connections and calls of this run were refused, the limit: it may make no more`;
  return { message, code: "limit_exceeded" };
}

export function forgetRefusals(): void {
  refusals = 0;
}
