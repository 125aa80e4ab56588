import type { WebhookSpec } from "../../crds/webhook.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { checkCredentials, maskedCredentials, splitCredentials, type SplitUrl } from "../../domain/secrets/url-credentials.ts";
import type { Keep } from "../resources/secret-texts.ts";

/** A webhook's URL and credentials, separate because only the URL is shown. */
export type Address = Pick<WebhookSpec, "url" | "basicAuth">;

export const addressOf = ({ url, basicAuth }: Address): Address => ({ url, ...(basicAuth === undefined ? {} : { basicAuth }) });

/** @throws InvalidInput */
export function newAddress(given: string): SplitUrl {
  const split = splitCredentials(given);
  if (split.credentials === maskedCredentials) throw credentialsMissing();
  if (split.credentials !== undefined) checkCredentials(split.credentials);
  return split;
}

/**
 * Changes the address. `***` in the URL keeps the stored credentials, also for another path of the same origin.
 * @throws InvalidInput if that would send them to another host, or there are none
 */
export async function changedAddress(before: Address, given: string, keep: Keep): Promise<Address> {
  const { url, credentials } = splitCredentials(given);
  if (credentials === undefined) return { url };
  if (credentials === maskedCredentials) {
    if (before.basicAuth === undefined || new URL(url).origin !== new URL(before.url).origin) throw credentialsMissing();
    return { url, basicAuth: before.basicAuth };
  }
  const { basicAuth } = await keep({ basicAuth: checkCredentials(credentials) });
  return addressOf({ url, basicAuth });
}

function credentialsMissing(): InvalidInput {
  const message = `'${maskedCredentials}' in url stands for the stored credentials of the webhook's current host: send user:password`;
  return new InvalidInput(message, { code: "credentials_missing" });
}
