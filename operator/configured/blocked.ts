/** Reasons that sources and steps of workflows share. */
export type ConfiguredReason =
  | "NamespaceHasNoOwner"
  | "NameTaken"
  | "CodeNotRead"
  | "CodeInvalid"
  | "ComponentNotFound"
  | "ComponentNotBuilt"
  | "ComponentFailed"
  | "SecretNotFound"
  | "SecretInvalid"
  | "AccountNotFound"
  | "AccountOfOtherApp"
  | "AccountNotReady"
  | "InvalidProps"
  | "AdditionalPropsPending"
  | "AdditionalPropsFailed";

/** Why something cannot be deployed: a condition's reason, and a message with what to do. */
export interface Blocked<Reason extends string = ConfiguredReason> {
  readonly reason: Reason;
  readonly message: string;
  /** Missing things may be on their way; wrong ones stay until a user changes them. */
  readonly transient: boolean;
  /** The cause is not watched: poll. */
  readonly poll?: boolean;
}
