import { maxCredentialBytes, type AccountSpec, type AccountStatus } from "../../crds/account.ts";
import type { Resource } from "../../crds/resource.ts";
import type { SecretReference } from "../../crds/secret-reference.ts";
import { InvalidInput, NotFound, type HeadwaterError } from "../../domain/errors.ts";
import type { OperatorPorts } from "../ports.ts";

export type AccountResource = Resource<AccountSpec, AccountStatus>;
type Reads = Pick<OperatorPorts, "secretValues">;

/** A secret text that is not where it should be. */
export interface Missing {
  /** Of the credentials, or of `oauth` as `oauth.refreshToken`. */
  readonly field: string;
  readonly error: HeadwaterError;
}

export interface Read {
  readonly values: Readonly<Record<string, string>>;
  readonly missing: readonly Missing[];
}

/** The field that is refreshed. */
export const accessTokenField = "oauth_access_token";

/** What components see as `$auth`: the credentials as they lie there, the access token as it was refreshed last. */
export function readCredentials({ metadata, spec, status }: AccountResource, ports: Reads): Promise<Read> {
  const refreshed = spec.oauth === undefined ? undefined : status.oauth?.accessToken;
  const references = { ...spec.credentials, ...(refreshed === undefined ? {} : { [accessTokenField]: refreshed }) };
  return readTexts(metadata.namespace, references, ports);
}

/** Each text, or why it cannot be had. */
export async function readTexts(
  namespace: string,
  references: Readonly<Record<string, SecretReference>>,
  { secretValues }: Reads,
): Promise<Read> {
  const looked = Object.entries(references).map(async ([field, reference]): Promise<[string, string] | Missing> => {
    try {
      return [field, await secretValues.read(namespace, reference)];
    } catch (error) {
      if (error instanceof NotFound || error instanceof InvalidInput) return { field, error };
      throw error;
    }
  });
  const found = await Promise.all(looked);
  return {
    values: Object.fromEntries(found.filter((each) => Array.isArray(each))),
    missing: found.filter((each): each is Missing => !Array.isArray(each)),
  };
}

/** What is too much to be handed to runners, in words; undefined when it is not. */
export function tooLarge({ values }: Read): string | undefined {
  const bytes = Object.values(values).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return bytes <= maxCredentialBytes
    ? undefined
    : `its credentials have ${bytes} bytes together: at most ${maxCredentialBytes} are handed to sources`;
}

/** Does everything that an app needs lie there, but for a token that was never refreshed yet? */
export function lacksToken({ spec }: AccountResource, { values }: Read): boolean {
  return spec.oauth !== undefined && values[accessTokenField] === undefined;
}
