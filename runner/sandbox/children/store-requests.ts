import { hash } from "node:crypto";
import { isReading, type DataStores, type StoreResult } from "../../../domain/data-store/data-stores.ts";
import { Forbidden, Unavailable } from "../../../domain/errors.ts";
import { retry } from "../../../domain/retry.ts";
import type { StoreCall } from "../operations/store-call.ts";
import type { ExecuteRequest } from "../port.ts";

/** Whose execution asks, and which stores its props have. */
export interface StoreUser {
  readonly owner: string;
  readonly stores?: ExecuteRequest["stores"] | undefined;
}

/** While the process that has the stores restarts. A repetition is safe, because each change has an id. */
const retries = { firstMs: 200, maxMs: 2_000, withinMs: 15_000, isTransient: (error: unknown) => error instanceof Unavailable };

/**
 * Performs what an execution asks of the store of one of its props. The runner has said which store that is, and whose: the child names the
 * prop only.
 *
 * @throws Forbidden for a prop without a store; what `DataStores.perform` throws
 */
export async function performStoreCall(
  { prop, operation, index }: StoreCall,
  { owner, stores }: StoreUser,
  dataStores: DataStores | undefined,
  signal: AbortSignal,
): Promise<StoreResult> {
  const store = stores !== undefined && Object.hasOwn(stores.byProp, prop) ? stores.byProp[prop] : undefined;
  if (stores === undefined || store === undefined)
    throw new Forbidden(`the prop '${prop.slice(0, 80)}' has no data store: configure it with the id of one`, {
      code: "data_store_not_configured",
    });
  if (dataStores === undefined) throw new Unavailable("this process has no access to data stores");
  const key = "key" in operation ? operation.key : "";
  const request = {
    owner,
    store,
    operation,
    ...(isReading(operation) ? {} : { operationId: hash("sha256", JSON.stringify([stores.run, prop, operation.kind, key, index])) }),
  };
  return retry(() => dataStores.perform(request), { ...retries, signal });
}
