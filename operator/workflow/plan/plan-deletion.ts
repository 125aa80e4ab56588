import { finalizer } from "../../../crds/resource.ts";
import { filesAddress } from "../../../domain/files/file-url.ts";
import type { Observed } from "../observe/observed.ts";
import { forgetVersions } from "./plan-running.ts";
import type { Step } from "./step.ts";

/**
 * Stops what starts runs, then removes everything: the entries before the histories, the finalizer last. Uses only stored entries: when a
 * namespace is deleted, components, Secrets and owner label may already be gone.
 */
export function planDeletion({ id, workflow, owner, pool, deployed, versions, components }: Observed): readonly Step[] {
  if (!workflow.metadata.finalizers.includes(finalizer)) return [];
  const { endpointKey, emailKey } = workflow.status;
  const historyOwner = deployed?.owner ?? owner;
  return [
    { do: "end-connections" }, // First: they fill its queue.
    ...[endpointKey, emailKey, filesAddress(id)].flatMap((key): readonly Step[] =>
      key === undefined ? [] : [{ do: "remove-endpoint", key }],
    ),
    { do: "remove-route" },
    { do: "end-timers" },
    { do: "end-queue" },
    { do: "remove-deployment", pool },
    ...forgetVersions(pool, versions.keys()),
    ...(historyOwner === undefined ? [] : [{ do: "forget-history", owner: historyOwner } as const]),
    ...components.map(({ metadata }): Step => ({ do: "remove-component", name: metadata.name })),
    { do: "release" },
  ];
}
