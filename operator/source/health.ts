import type { SourceResource } from "../../crds/source.ts";
import { sourceHealth } from "../../crds/source-health.ts";
import { settledHealth } from "../health/status-health.ts";
import type { StatusFields } from "./plan/step.ts";

/**
 * Health fields of the status once `status` is written. Runs are checked every few minutes (activity.ts): until then a source with failing
 * runs stays failing, unless something else is deployed.
 */
export function healthFields(before: SourceResource, status: SourceResource["status"]): StatusFields {
  const isSame = before.status.deployment === status.deployment;
  return settledHealth(before.status, sourceHealth(before), sourceHealth({ ...before, status }), isSame);
}
