import type { Blocked as AnyBlocked, ConfiguredReason } from "../../configured/blocked.ts";

/** Why a workflow cannot be deployed. */
export type Blocked = AnyBlocked<
  | ConfiguredReason
  | "ComponentIsNoAction"
  | "InvalidExpression"
  | "InvalidStep"
  | "InvalidTrigger"
  | "SourceNotFound"
  | "TooLarge"
  | "WorkflowNotFound"
>;
