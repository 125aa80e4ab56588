import { isSoak } from "../../support/soak.ts";
import type { Entries, OperatorPorts } from "../../../operator/ports.ts";

class Killed extends Error {}

/** A reconciler comes back within this time while something that it has requested is running. */
const maxRunningWaitMs = 500;

/** Of an operator that survives. */
export const never = Number.POSITIVE_INFINITY;

/** The ports of an operator that dies just after its n-th change of the world, which is also just before the next one. */
function mortal(ports: OperatorPorts, dieAt: number): OperatorPorts {
  let changes = 0;
  const deadly =
    <A extends unknown[], R>(act: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const isLast = changes++ === dieAt;
      const result = await act(...args);
      if (isLast) throw new Killed();
      return result;
    };
  const entries = <T>(of: Entries<T>): Entries<T> => ({ get: (key) => of.get(key), put: deadly(of.put), delete: deadly(of.delete) });
  const { store, secretValues, timers, histories, invocations, tokenRefresher } = ports;
  const create: OperatorPorts["store"]["create"] = (kind, resource) => deadly(() => store.create(kind, resource))();
  const update: OperatorPorts["store"]["update"] = (kind, resource) => deadly(() => store.update(kind, resource))();
  const updateStatus: OperatorPorts["store"]["updateStatus"] = (kind, resource) => deadly(() => store.updateStatus(kind, resource))();
  const remove: OperatorPorts["store"]["delete"] = (kind, namespace, name) => deadly(() => store.delete(kind, namespace, name))();
  return {
    ...ports,
    store: { ...store, create, update, updateStatus, delete: remove },
    secretValues: {
      read: (holder, reference) => secretValues.read(holder, reference),
      keep: deadly((holder, texts) => secretValues.keep(holder, texts)),
      adopt: deadly((holder, references) => secretValues.adopt(holder, references)),
      settle: deadly((holder, references) => secretValues.settle(holder, references)),
    },
    deployments: entries(ports.deployments),
    endpoints: entries(ports.endpoints),
    routes: entries(ports.routes),
    versions: entries(ports.versions),
    workflowDeployments: entries(ports.workflowDeployments),
    workflowVersions: { ...entries(ports.workflowVersions), list: (filter) => ports.workflowVersions.list(filter) },
    workflowQueues: { end: deadly(ports.workflowQueues.end) },
    timers: { set: deadly(timers.set), remove: deadly(timers.remove), end: deadly(timers.end) },
    histories: { ...histories, forget: deadly(histories.forget) },
    invocations: { ...invocations, request: deadly(invocations.request) },
    tokenRefresher: { refresh: deadly(tokenRefresher.refresh) },
  };
}

/** A pass with an operator that dies. @returns whether it did, or survived because it had less to change */
export async function dies(ports: OperatorPorts, dieAt: number, pass: (ports: OperatorPorts) => Promise<unknown>): Promise<boolean> {
  try {
    await pass(mortal(ports, dieAt));
    return false;
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
    return true;
  }
}

/** A pass with an operator that dies; if it did, then one with an operator that survives. @returns whether it died */
export async function live(ports: OperatorPorts, dieAt: number, pass: (ports: OperatorPorts) => Promise<unknown>): Promise<boolean> {
  const died = await dies(ports, dieAt, pass);
  if (died) await pass(ports);
  return died;
}

/** Reconciles until nothing is running, such as a hook on a busy machine. @returns ms until the next pass */
export async function settled(reconcile: () => Promise<number | undefined>): Promise<number | undefined> {
  for (;;) {
    const waitMs = await reconcile();
    if (waitMs === undefined || waitMs > maxRunningWaitMs) return waitMs;
  }
}

/** `npm test` kills after every fifth change: each table begins with another one. */
const step = isSoak ? 1 : 5;
let tables = 0;

/** Kills the operator after its changes in turn, until it survives a pass. @returns the number of changes, rounded up to the next kill */
export async function survives(life: (dieAt: number) => Promise<boolean>): Promise<number> {
  let dieAt = tables++ % step;
  while (await life(dieAt)) dieAt += step;
  return dieAt;
}
