import { sourceKind } from "../../crds/source.ts";
import { unlessDeleted } from "../resources/change.ts";
import type { ApiContext } from "../context.ts";
import { changeSource } from "./change.ts";
import type { SourceResource } from "../resources/source.ts";
import { refuseWhileTriggering, removeTriggers } from "./triggered-workflows.ts";

interface Deletion {
  /** Calls the `deactivate` hook once. */
  readonly ignoreHookErrors: boolean;
  /** Also deletes a source that triggers workflows, and removes its triggers. */
  readonly force: boolean;
}

/**
 * Deletes the source and waits for that, up to a limit; the deletion continues afterwards.
 * @throws NotFound; Conflict while it triggers workflows, unless `force`
 */
export async function deleteSource(
  source: SourceResource,
  { ignoreHookErrors, force }: Deletion,
  { config, ports, sources }: ApiContext,
): Promise<void> {
  const { namespace, name } = source.metadata;
  await (force ? removeTriggers(source, ports) : refuseWhileTriggering(source, ports));
  const following = sources.follow(namespace, name);
  try {
    if (ignoreHookErrors && source.invalid === undefined)
      await changeSource(ports.store, source, ({ spec }) => ({ ...spec, ignoreHookErrors: true }));
    await unlessDeleted(ports.store.delete(sourceKind, namespace, name));
    await following.until((seen) => (seen === undefined ? true : undefined), AbortSignal.timeout(config.deletionTimeoutMs));
  } finally {
    following.end();
  }
}
