import type { Route } from "../domain/deployment.ts";
import { sameStatus } from "./controller/conditions.ts";
import type { OperatorPorts } from "./ports.ts";

/**
 * Has routers see this route under the id, or none. Sealed twice, a key is two texts: what there is stays when only that differs.
 */
export async function writeRoute(id: string, wanted: Route | undefined, { routes, secrets }: Pick<OperatorPorts, "routes" | "secrets">) {
  if (wanted === undefined) return routes.delete(id);
  const now = await routes.get(id);
  if (now !== undefined && (sameStatus(now, wanted) || (await isSameOpened(now, wanted, secrets)))) return;
  return routes.put(id, wanted);
}

async function isSameOpened(now: Route, wanted: Route, secrets: OperatorPorts["secrets"]): Promise<boolean> {
  if (now.listener.kind !== "webhook" || wanted.listener.kind !== "webhook") return false;
  if (!sameStatus({ ...now, listener: { ...now.listener, keys: [] } }, { ...wanted, listener: { ...wanted.listener, keys: [] } }))
    return false;
  const [before, after] = await Promise.all([now, wanted].map(({ listener }) => openKeys(listener, secrets)));
  return sameStatus(before, after);
}

async function openKeys(listener: Route["listener"], secrets: OperatorPorts["secrets"]): Promise<readonly string[] | undefined> {
  return listener.kind === "webhook" ? Promise.all(listener.keys.map((key) => secrets.open(key))) : undefined;
}
