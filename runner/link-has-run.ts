import type { SourceState } from "../domain/commit.ts";
import type { Invocation } from "../domain/invocation.ts";

/** A link whose ack was lost for longer than the server remembers message ids is armed again, and fires again: it is not run again. */
export function linkHasRun({ chain, at }: Invocation, { links = {} }: SourceState): boolean {
  const last = chain === undefined ? undefined : links[chain];
  return last !== undefined && at !== undefined && at <= last;
}
