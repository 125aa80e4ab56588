import { accountKind, maxCredentialBytes, type AccountResource } from "../../crds/account.ts";
import type { SecretReference } from "../../crds/secret-reference.ts";
import { holderOf } from "../../crds/secret-values.ts";
import { InvalidInput, NotFound, type HeadwaterError } from "../../domain/errors.ts";
import type { OperatorPorts } from "../ports.ts";

type SecretReader = Pick<OperatorPorts, "secretValues">;

/** A secret that cannot be read from its reference. */
export interface Missing {
  /** Credential name, or a field of `oauth` such as `oauth.refreshToken`. */
  readonly field: string;
  readonly error: HeadwaterError;
}

export interface SecretTexts {
  readonly values: Readonly<Record<string, string>>;
  readonly missing: readonly Missing[];
}

/** The credential that is refreshed. */
export const accessTokenField = "oauth_access_token";

/** What components see as `$auth`: the stored credentials, with the access token as last refreshed. */
export function readCredentials(account: AccountResource, ports: SecretReader): Promise<SecretTexts> {
  const { spec, status } = account;
  const refreshed = spec.oauth === undefined ? undefined : status.oauth?.accessToken;
  const references = { ...spec.credentials, ...(refreshed === undefined ? {} : { [accessTokenField]: refreshed }) };
  return readReferences(account, references, ports);
}

/** Reads every reference of the account. Those that cannot be read are in `missing`. */
export async function readReferences(
  account: AccountResource,
  references: Readonly<Record<string, SecretReference>>,
  { secretValues }: SecretReader,
): Promise<SecretTexts> {
  const reads = Object.entries(references).map(async ([field, reference]): Promise<[string, string] | Missing> => {
    try {
      return [field, await secretValues.read(holderOf(accountKind, account), reference)];
    } catch (error) {
      if (error instanceof NotFound || error instanceof InvalidInput) return { field, error };
      throw error;
    }
  });
  const results = await Promise.all(reads);
  return {
    values: Object.fromEntries(results.filter((each) => Array.isArray(each))),
    missing: results.filter((each): each is Missing => !Array.isArray(each)),
  };
}

/** Returns a message when the credentials are too large for runners, else undefined. */
export function sizeProblem({ values }: SecretTexts): string | undefined {
  const bytes = Object.values(values).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return bytes <= maxCredentialBytes
    ? undefined
    : `its credentials have ${bytes} bytes in total: at most ${maxCredentialBytes} are passed to sources`;
}

/** True when an OAuth account has no access token yet. */
export function isMissingToken({ spec }: AccountResource, { values }: SecretTexts): boolean {
  return spec.oauth !== undefined && values[accessTokenField] === undefined;
}
