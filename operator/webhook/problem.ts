import { disabledWebhook } from "../../crds/webhook.ts";
import { Forbidden } from "../../domain/errors.ts";
import { hostProblem } from "../../domain/http-url.ts";
import type { OperatorPorts } from "../ports.ts";

/** Why nothing can be posted to a webhook. `transient`: what is missing may be on its way. */
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
  readonly transient: boolean;
  readonly message: string;
}

/** Checks port, host name and literal addresses. Host names are resolved, and checked again, at each delivery. */
export function urlProblem(url: string, { checkHost }: Pick<OperatorPorts, "checkHost">): WebhookProblem | undefined {
  const problem = hostProblem(url);
  if (problem !== undefined) return { reason: "UrlForbidden", transient: false, message: `the URL is invalid: ${problem}` };
  try {
    checkHost(new URL(url).hostname);
    return undefined;
  } catch (error) {
    if (error instanceof Forbidden || error instanceof TypeError)
      return { reason: "UrlForbidden", transient: false, message: error.message };
    throw error;
  }
}

/** The delivery role has disabled the endpoint, and it has not been enabled since. */
export function disabledProblem(webhook: Parameters<typeof disabledWebhook>[0]): WebhookProblem | undefined {
  const disabled = disabledWebhook(webhook);
  return disabled === undefined ? undefined : { reason: disabled.reason, transient: false, message: disabled.message };
}
