import { subscriptionKind } from "../../crds/subscription.ts";
import { NotFound } from "../../domain/errors.ts";
import { parseKey } from "../controller/informer.ts";
import type { OperatorPorts } from "../ports.ts";

/** Ignores a Subscription that is already gone. */
export async function endSubscription(key: string, { store }: Pick<OperatorPorts, "store">): Promise<void> {
  const { namespace, name } = parseKey(key);
  await store.delete(subscriptionKind, namespace, name).catch((error: unknown) => {
    if (!(error instanceof NotFound)) throw error;
  });
}
