import { dataStoreKind, type DataStoreResource } from "../../crds/data-store.ts";
import { QuotaExceeded } from "../../domain/errors.ts";
import { parseKey } from "../controller/informer.ts";
import { adopt, release } from "../controller/ownership.ts";
import { readyConditions, updatedAtOf, writeStatus, type Verdict } from "../controller/status.ts";
import { idOf, namespaceHasNoOwner } from "../identity.ts";
import { ownerRetryMs } from "../polling.ts";
import type { OperatorPorts } from "../ports.ts";

/**
 * Gives a data store its id, and registers it where its entries are. The finalizer ensures that these are deleted with it. In a namespace
 * that has lost its owner, the entries stay for the next one, and no run reaches them.
 */
export function dataStoreReconciler(ports: OperatorPorts) {
  return async (key: string): Promise<number | undefined> => {
    const { namespace, name } = parseKey(key);
    const found = await ports.store.find(dataStoreKind, namespace, name);
    if (found === undefined) return undefined;
    const id = await idOf(ports, dataStoreKind, found, "dataStore");
    if (found.metadata.deletionTimestamp !== undefined) {
      await ports.dataStores.delete(id);
      await release(ports.store, dataStoreKind, found);
      return undefined;
    }
    const store = await adopt(ports.store, dataStoreKind, found, id);
    const owner = await ports.owners.ownerOf(namespace);
    if (owner === undefined) await ports.dataStores.disown(id);
    const verdict = owner === undefined ? namespaceHasNoOwner(namespace) : await register({ id, owner, name }, ports);
    await report(store, id, verdict, ports);
    return verdict.ready ? undefined : ownerRetryMs;
  };
}

async function register(
  store: { readonly id: string; readonly owner: string; readonly name: string },
  ports: OperatorPorts,
): Promise<Verdict> {
  try {
    await ports.dataStores.register(store);
    return { ready: true, reason: "Registered", message: "props and the API can use it" };
  } catch (error) {
    if (error instanceof QuotaExceeded) return { ready: false, transient: false, reason: "LimitExceeded", message: error.message };
    throw error;
  }
}

async function report(resource: DataStoreResource, id: string, verdict: Verdict, { store, clock }: OperatorPorts): Promise<void> {
  const now = clock.now();
  await writeStatus(store, dataStoreKind, resource, {
    fields: { id, updatedAt: updatedAtOf(resource, now) },
    conditions: readyConditions(verdict),
    now,
  });
}
