import { InvalidInput, NotFound, Unavailable } from "../../domain/errors.ts";
import { ObservationError } from "../http/errors.ts";
import type { Following } from "../resources/following.ts";
import { publicIdOf } from "../resources/identity.ts";
import { verdictOf } from "../resources/verdict.ts";
import type { SourceSpec, SourceStatus } from "../../crds/source.ts";
import type { ApiContext } from "../routes/context.ts";
import type { SourceResource } from "./source.ts";

/** A source that is stored, and not deployed yet. It keeps nothing of the request that made or changed it. */
export interface Deployment {
  /** To be called once. @throws as {@link untilDeployed} */
  deployed(): Promise<SourceResource>;
}

/**
 * Waits until the operator has deployed what was just written.
 * @throws ObservationError when a hook failed; the version before runs on when there is one. InvalidInput when the source cannot be deployed; Unavailable when it takes too long
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
      `source ${id} is saved and was not deployed within ${config.deployTimeoutMs / 1000} s${whyNot(last)}; it will be as soon as it can: see GET /v1/sources/${id}`,
      { code: "not_ready_in_time", details: { id } },
    );
  if (verdict.outcome === "ready" && verdict.resource !== undefined) return verdict.resource;
  if (verdict.outcome === "gone") throw new NotFound(`source ${id} was deleted meanwhile`);
  const failures = verdict.resource?.status.hookFailures ?? [];
  const { reason, message: what } = verdict;
  if ((reason === "HookFailed" || reason === "UpdateFailed") && failures.length > 0) {
    throw new ObservationError(
      failures.map(({ hook, error: { name, message, stack, code } }) => ({
        k: "error",
        h: hook,
        ts: ports.clock.now(),
        err: { name, message, ...(stack === undefined ? {} : { stack }), ...(code === undefined ? {} : { code }) },
      })),
      reason === "UpdateFailed" ? { reason, message: what } : undefined,
    );
  }
  throw new InvalidInput(`the source cannot be deployed: ${verdict.message}`, {
    code: "not_deployable",
    details: { reason: verdict.reason },
  });
}

/** What the operator waits for, such as an account without a token. */
function whyNot({ metadata, status }: SourceResource): string {
  const ready = status.conditions?.find(({ type }) => type === "Ready");
  return ready?.status === "False" && ready.observedGeneration >= metadata.generation ? ` (${ready.message})` : "";
}
