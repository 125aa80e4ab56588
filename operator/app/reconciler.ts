import { appKind } from "../../crds/app.ts";
import { readyConditions, writeStatus } from "../controller/status.ts";
import { findIdentified, labelWithApp, namespaceHasNoOwner } from "../identity.ts";
import { ownerRetryMs } from "../polling.ts";
import type { OperatorPorts } from "../ports.ts";

/** Gives an app its id. Nothing is created for it: accounts read it when they are connected or refreshed. */
export function appReconciler(ports: OperatorPorts) {
  return async (key: string): Promise<number | undefined> => {
    const found = await findIdentified(ports, appKind, key, "app");
    if (found === undefined) return undefined;
    const { id, hasOwner } = found;
    const { metadata, spec } = found.resource;
    const app = await labelWithApp(ports.store, appKind, found.resource, spec.slug);
    const verdict = hasOwner
      ? { ready: true, reason: "Defined", message: `accounts of ${spec.slug} are connected as it says` }
      : namespaceHasNoOwner(metadata.namespace);
    await writeStatus(ports.store, appKind, app, { fields: { id }, conditions: readyConditions(verdict), now: ports.clock.now() });
    return hasOwner ? undefined : ownerRetryMs;
  };
}
