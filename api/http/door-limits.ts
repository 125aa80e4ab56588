import type { FailureLimit } from "./limit-failures.ts";
import type { Parsing } from "./parsing.ts";

/** Limits that all routers of the API share. */
export interface DoorLimits {
  readonly failures: Omit<FailureLimit, "needed">;
  readonly parsing: Parsing;
}
