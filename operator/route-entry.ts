import type { Route } from "../domain/deployment.ts";
import { sameStatus } from "./controller/conditions.ts";
import type { OperatorPorts } from "./ports.ts";

type Ports = Pick<OperatorPorts, "routes" | "secrets" | "commits">;

/**
 * Has routers see this route under the id, or none. Sealed twice, a key is two texts: what there is stays when only that differs.
 * A new one begins after what is committed by now: routers may be behind, and would deliver what was emitted before it.
 */
export async function writeRoute(id: string, given: Route | undefined, { routes, secrets, commits }: Ports) {
  if (given === undefined) return routes.delete(id);
  const now = await routes.get(id);
  const after = now !== undefined && connectsTheSame(now, given) ? now.after : await commits.position();
  const wanted = after === undefined ? given : { ...given, after };
  if (now !== undefined && (sameStatus(now, wanted) || (await isSameOpened(now, wanted, secrets)))) return;
  return routes.put(id, wanted);
}

function connectsTheSame(one: Route, other: Route): boolean {
  return one.emitter === other.emitter && one.channel === other.channel && one.listener.id === other.listener.id;
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
