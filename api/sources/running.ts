import { runningSpec } from "../../crds/source.ts";
import type { SourceResource } from "./source.ts";

/** The source as it runs, which the API shows: while an update waits, and after it has failed, not as its spec asks for. */
export function asItRuns(source: SourceResource): SourceResource {
  return source.status.running === undefined ? source : { ...source, spec: runningSpec(source) };
}
