/** Why nothing can be deployed: the reason of a condition and what a person should do. */
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
  /** What is missing may be on its way; what is there and wrong stays until a person changes it. */
  readonly passing: boolean;
  /** Nobody tells us when it does: look again. */
  readonly lookAgain?: boolean;
}
