import { disabledWebhook } from "../../crds/webhook.ts";
import { Forbidden } from "../../domain/errors.ts";
import type { OperatorPorts } from "../ports.ts";

/** Why nothing can be posted to a webhook. `passing`: what is missing may be on its way. */
export interface WebhookProblem {
  readonly reason:
    | "EndpointGone"
    | "EndpointFailing"
    | "UrlForbidden"
    | "SigningKeyNotFound"
    | "SigningKeyInvalid"
    | "SigningKeyChanging"
    | "BasicAuthNotFound"
    | "BasicAuthInvalid";
  readonly passing: boolean;
  readonly message: string;
}

/** An address that nothing may be posted to; a name is judged when it is resolved, at each delivery. */
export function urlProblem(url: string, { checkHost }: Pick<OperatorPorts, "checkHost">): WebhookProblem | undefined {
  try {
    checkHost(new URL(url).hostname);
    return undefined;
  } catch (error) {
    if (error instanceof Forbidden || error instanceof TypeError) return { reason: "UrlForbidden", passing: false, message: error.message };
    throw error;
  }
}

/** Whoever delivers has given its endpoint up, and nobody has enabled it since. */
export function disabledProblem(webhook: Parameters<typeof disabledWebhook>[0]): WebhookProblem | undefined {
  const disabled = disabledWebhook(webhook);
  return disabled === undefined ? undefined : { reason: disabled.reason, passing: false, message: disabled.message };
}
