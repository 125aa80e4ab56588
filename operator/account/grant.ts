import { createHash } from "node:crypto";
import type { AccountTokens } from "../../crds/account.ts";
import { InvalidInput } from "../../domain/errors.ts";
import type { OperatorPorts, RefreshRequest } from "../ports.ts";
import { readTexts, type AccountResource, type Missing } from "./credentials.ts";

/** What the spec gives for refreshing, read where it lies. */
export interface Grant {
  /** With the refresh token of the spec. */
  readonly given: RefreshRequest;
  /** Tells one refresh token of the spec from another; whatever replaced the one belongs to it. */
  readonly digest: string;
  /** Tells whether anything differs that a refusal may have been about. */
  readonly requestDigest: string;
}

type Reads = Pick<OperatorPorts, "secretValues">;

export async function readGrant(account: AccountResource, ports: Reads): Promise<Grant | { readonly missing: readonly Missing[] }> {
  const { oauth } = account.spec;
  if (oauth === undefined) return { missing: [] };
  const { tokenUrl, clientId, clientSecret, refreshToken, scope, clientAuthentication = "basic" } = oauth;
  const references = { "oauth.refreshToken": refreshToken, ...(clientSecret === undefined ? {} : { "oauth.clientSecret": clientSecret }) };
  const { values, missing } = await readTexts(account.metadata.namespace, references, ports);
  const token = values["oauth.refreshToken"];
  if (missing.length > 0 || token === undefined) return { missing };
  const secret = values["oauth.clientSecret"];
  const given: RefreshRequest = {
    tokenUrl,
    clientId,
    clientAuthentication,
    refreshToken: token,
    ...(secret === undefined ? {} : { clientSecret: secret }),
    ...(scope === undefined ? {} : { scope }),
  };
  return { given, digest: sha256([tokenUrl, clientId, token]), requestDigest: sha256(Object.entries(given).toSorted(byName)) };
}

/** What refreshing has left in the status, as far as it came of this grant. */
export async function tokensOf(
  { status }: AccountResource,
  { digest }: Grant,
  { secrets }: Pick<OperatorPorts, "secrets">,
): Promise<AccountTokens> {
  const { oauth } = status;
  if (oauth?.grant === undefined) return {};
  try {
    return (await secrets.open(oauth.grant)) === digest ? oauth : {};
  } catch (error) {
    if (error instanceof InvalidInput) return {}; // Sealed by keys that are gone, and the tokens were too.
    throw error;
  }
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);
const sha256 = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex");
