import type { Invocation } from "../../domain/invocation/invocation.ts";
import type { RunError } from "../../domain/run-products.ts";
import type { SourceState } from "../../domain/run/commit.ts";
import type { Deployment } from "../../domain/source/deployment.ts";
import { deletedError, maxPausedMs, pausedError } from "../../domain/source/ended-work.ts";

/**
 * Why an invocation waits in its queue. `paused`: its source is not active. `starting`: the hooks of its source's new version have not
 * succeeded, so that the version may yet be refused.
 */
export type Hold = "paused" | "starting";

/** What to do with an invocation: run it, keep it in its queue, end it without a run and without a trace, or commit this error for it. */
export type Decision = "run" | "drop" | Hold | RunError;

/**
 * Hooks always run. Everything else waits while its source is paused or starts. A tick of a paused source is skipped, as are those that
 * its timers would have made.
 *
 * @param hasRoom whether the backlog has room for work that waits
 * @param ageMs since the invocation was stored
 */
export function decide(
  { trigger }: Pick<Invocation, "trigger">,
  deployment: Deployment,
  state: Pick<SourceState, "hooks">,
  { hasRoom, ageMs }: { readonly hasRoom: boolean; readonly ageMs: number },
): Decision {
  if (trigger === "hook") return "run";
  if (deployment.active) return isStarted(deployment, state) ? "run" : "starting";
  if (trigger === "timer") return "drop";
  if (deployment.ending !== undefined) return deletedError(deployment.source);
  return hasRoom && ageMs <= maxPausedMs ? "paused" : pausedError(deployment.source, hasRoom ? "age" : "backlog");
}

/** Have all hooks succeeded that must run first? A failed one is followed by another deployment. */
function isStarted({ startsWith = [], generation }: Deployment, { hooks }: Pick<SourceState, "hooks">): boolean {
  return startsWith.every((hook) => hooks[hook]?.generation === generation && hooks[hook].error === null);
}
