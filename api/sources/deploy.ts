import { InvalidInput, NotFound, Unavailable } from "../../domain/errors.ts";
import { ObservationError } from "../http/response/errors.ts";
import type { Following } from "../resources/watch/following.ts";
import { publicIdOf } from "../resources/identity.ts";
import { verdictOf } from "../resources/watch/verdict.ts";
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
  const { generation } = written.metadata;
  let last = written;
  const read = (seen: SourceResource | undefined) => {
    last = seen ?? last;
    return verdictOf(seen, generation);
  };
  const verdict =
    verdictOf(written, generation) ?? (await following.until((seen) => read(seen), AbortSignal.timeout(config.deployTimeoutMs)));
  const id = publicIdOf(written);
  if (verdict === undefined)
    throw new Unavailable(
      `source ${id} is saved, but was not deployed within ${config.deployTimeoutMs / 1000} s${whyNot(last)}; the deployment continues: see GET /v1/sources/${id}`,
      { code: "not_ready_in_time", details: { id } },
    );
  if (verdict.outcome === "ready" && verdict.resource !== undefined) return verdict.resource;
  if (verdict.outcome === "gone") throw new NotFound(`source ${id} was deleted in the meantime`);
  const failures = verdict.resource?.status.hookFailures ?? [];
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

/** What the operator is waiting for, such as a token of an account. */
function whyNot({ metadata, status }: SourceResource): string {
  const ready = status.conditions?.find(({ type }) => type === "Ready");
  return ready?.status === "False" && ready.observedGeneration >= metadata.generation ? ` (${ready.message})` : "";
}
