/** Why a source cannot be deployed: a condition's reason, and a message with what to do. */
export interface Blocked {
  readonly reason:
    | "NamespaceHasNoOwner"
    | "NameTaken"
    | "ConfigMapNotFound"
    | "CodeNotRead"
    | "CodeInvalid"
    | "ComponentNotFound"
    | "ComponentNotBuilt"
    | "ComponentFailed"
    | "ComponentIsAction"
    | "SecretNotFound"
    | "SecretInvalid"
    | "AccountNotFound"
    | "AccountOfOtherApp"
    | "AccountNotReady"
    | "InvalidProps"
    | "AdditionalPropsPending"
    | "AdditionalPropsFailed";
  readonly message: string;
  /** Missing things may be on their way; wrong ones stay until a user changes them. */
  readonly transient: boolean;
  /** The cause is not watched: poll. */
  readonly poll?: boolean;
}
