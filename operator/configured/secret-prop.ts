import type { SecretReference } from "../../crds/secret-reference.ts";

/** Where the value of a secret prop is stored, and whether its text is used verbatim. */
export interface SecretProp {
  readonly reference: SecretReference;
  readonly asText: boolean;
}

/** An account that a prop refers to by its public id. */
export interface AccountReference {
  readonly account: string;
  /** Name slug of the prop's app; undefined: any app. */
  readonly app?: string | undefined;
}

/** Props with secret values: those marked as secret, and app props, which receive the account's credentials. */
export type SecretProps = Readonly<Record<string, SecretProp | AccountReference>>;
