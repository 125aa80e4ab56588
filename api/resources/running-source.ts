import { runningSpec } from "../../crds/source.ts";
import type { SourceResource } from "./source.ts";

/** The running version of the source, which the API shows. It differs from the spec while an update is pending or has failed. */
export function asItRuns(source: SourceResource): SourceResource {
  return source.status.running === undefined ? source : { ...source, spec: runningSpec(source) };
}
