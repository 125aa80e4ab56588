import { isRoutedInOrder, type CommitPosition, type Route } from "../domain/source/deployment.ts";
import { sameStatus } from "./controller/conditions.ts";
import type { OperatorPorts } from "./ports.ts";

type Ports = Pick<OperatorPorts, "routes" | "secrets" | "commits">;

/**
 * Writes the route that routers use, or deletes it. Sealing is not deterministic, so an entry is kept if it differs only in the sealed
 * text. A new route starts after the current last commit: routers may lag, and would deliver events emitted before it. Likewise for a
 * webhook that becomes ordered. One that is no longer ordered is still routed by the replica that routes to ordered webhooks: two
 * replicas with different progress could both leave out an event.
 */
export async function writeRoute(id: string, given: Route | undefined, { routes, secrets, commits }: Ports) {
  if (given === undefined) return routes.delete(id);
  const current = await routes.get(id);
  const same = current !== undefined && connectsTheSame(current, given) ? current : undefined;
  const after = same === undefined ? await commits.position() : same.after;
  const orderedSince = await orderedSinceOf(same, given, after, commits);
  const desired = { ...given, ...(after === undefined ? {} : { after }), ...(orderedSince === undefined ? {} : { orderedSince }) };
  if (current !== undefined && (sameStatus(current, desired) || (await isSameUnsealed(current, desired, secrets)))) return;
  return routes.put(id, desired);
}

async function orderedSinceOf(
  current: Route | undefined,
  given: Route,
  after: CommitPosition | undefined,
  commits: Ports["commits"],
): Promise<CommitPosition | undefined> {
  if (current !== undefined && isRoutedInOrder(current)) return current.orderedSince ?? current.after ?? fromTheFirst;
  if (!isRoutedInOrder(given)) return undefined;
  return current === undefined ? after : commits.position();
}

/** A position before every commit. */
const fromTheFirst: CommitPosition = { stream: "", seq: 0 };

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
