import type { WaitingBudget } from "../../../domain/limits/waiting-budget.ts";
import type { FailureLimit } from "./failure-limit.ts";
import type { Parsing } from "../request/parsing.ts";

/** Limits that all routers of the API share. */
export interface DoorLimits {
  readonly failures: Omit<FailureLimit, "needed">;
  readonly parsing: Parsing;
  /** Memory of lists that are being written. */
  readonly listMemory: WaitingBudget;
}
