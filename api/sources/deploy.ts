import { InvalidInput } from "../../domain/errors.ts";
import { ObservationError } from "../http/response/errors.ts";
import type { Following } from "../resources/watch/following.ts";
import { untilJudged } from "../resources/watch/until-judged.ts";
import type { SourceSpec, SourceStatus } from "../../crds/source.ts";
import type { ApiContext } from "../context.ts";
import type { SourceResource } from "../resources/source.ts";

/** A stored source that is not deployed yet. It holds nothing of the request that created or changed it. */
export interface Deployment {
  /** Call only once. @throws as {@link untilDeployed} */
  deployed(): Promise<SourceResource>;
}

/**
 * Waits until the operator has deployed the written source.
 * @throws ObservationError when a hook failed; a previous version keeps running. InvalidInput when the source cannot be deployed; Unavailable when it takes too long
 */
export async function untilDeployed(
  written: SourceResource,
  following: Following<SourceSpec, SourceStatus>,
  { config, ports }: ApiContext,
): Promise<SourceResource> {
  const verdict = await untilJudged(written, following, { noun: "source", path: "/v1/sources" }, config.deployTimeoutMs);
  if (verdict.outcome === "ready") return verdict.resource;
  const failures = verdict.resource.status.hookFailures ?? [];
  const { reason, message } = verdict;
  if ((reason === "HookFailed" || reason === "UpdateFailed") && failures.length > 0) {
    throw new ObservationError(
      failures.map(({ hook, error: { name, message, stack, code } }) => ({
        k: "error",
        h: hook,
        ts: ports.clock.now(),
        err: { name, message, ...(stack === undefined ? {} : { stack }), ...(code === undefined ? {} : { code }) },
      })),
      reason === "UpdateFailed" ? { reason, message } : undefined,
    );
  }
  throw new InvalidInput(`the source cannot be deployed: ${message}`, {
    code: "not_deployable",
    details: { reason },
  });
}
