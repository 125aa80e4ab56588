import type { Route } from "../domain/source/deployment.ts";
import { sameStatus } from "./controller/conditions.ts";
import type { OperatorPorts } from "./ports.ts";

type Ports = Pick<OperatorPorts, "routes" | "secrets" | "commits">;

/**
 * Writes the route that routers use, or deletes it. Sealing is not deterministic, so an entry is kept if it differs only in the sealed
 * text. A new route starts after the current last commit: routers may lag, and would deliver events emitted before it.
 */
export async function writeRoute(id: string, given: Route | undefined, { routes, secrets, commits }: Ports) {
  if (given === undefined) return routes.delete(id);
  const current = await routes.get(id);
  const same = current !== undefined && connectsTheSame(current, given) ? current : undefined;
  const after = same === undefined ? await commits.position() : same.after;
  const desired = { ...given, ...(after === undefined ? {} : { after }) };
  if (current !== undefined && (sameStatus(current, desired) || (await isSameUnsealed(current, desired, secrets)))) return;
  return routes.put(id, desired);
}

function connectsTheSame(one: Route, other: Route): boolean {
  return one.emitter === other.emitter && one.channel === other.channel && one.listener.id === other.listener.id;
}

async function isSameUnsealed(current: Route, desired: Route, secrets: OperatorPorts["secrets"]): Promise<boolean> {
  if (current.listener.kind !== "webhook" || desired.listener.kind !== "webhook") return false;
  if (!sameStatus({ ...current, listener: { ...current.listener, keys: [] } }, { ...desired, listener: { ...desired.listener, keys: [] } }))
    return false;
  const [before, after] = await Promise.all([current, desired].map(({ listener }) => openKeys(listener, secrets)));
  return sameStatus(before, after);
}

async function openKeys(listener: Route["listener"], secrets: OperatorPorts["secrets"]): Promise<readonly string[] | undefined> {
  return listener.kind === "webhook" ? Promise.all(listener.keys.map((key) => secrets.open(key))) : undefined;
}
