import type { Entries, OperatorPorts } from "../../../operator/ports.ts";

export class Killed extends Error {}

/** The ports of an operator that dies at its n-th change of the world: just before it, or just after. */
export function mortal(ports: OperatorPorts, dieAt: number, moment: "before" | "after"): OperatorPorts {
  let changes = 0;
  const deadly =
    <A extends unknown[], R>(act: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const dies = changes++ === dieAt;
      if (dies && moment === "before") throw new Killed();
      const result = await act(...args);
      if (dies) throw new Killed();
      return result;
    };
  const entries = <T>(of: Entries<T>): Entries<T> => ({ get: (key) => of.get(key), put: deadly(of.put), delete: deadly(of.delete) });
  const { store, secretValues, timers, histories, invocations } = ports;
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
  };
}

/** Kills the operator at each of its changes in turn, until it survives a pass. @returns the number of its changes */
export async function survives(life: (dieAt: number, moment: "before" | "after") => Promise<boolean>): Promise<number> {
  for (const moment of ["before", "after"] as const) {
    let dieAt = 0;
    while (await life(dieAt, moment)) dieAt++;
    if (moment === "after") return dieAt;
  }
  return 0;
}
