import { accountKind } from "../../crds/account.ts";
import type { ApiContext } from "../context.ts";
import { unlessDeleted } from "../resources/change.ts";
import { publicIdOf } from "../resources/identity.ts";
import { refuseInUse } from "../resources/prop-users.ts";
import type { AccountResource } from "./spec.ts";
import { usesOf } from "./uses.ts";

/** @throws Conflict while sources or workflows use it, unless `force` */
export async function deleteAccount(account: AccountResource, force: boolean, context: ApiContext): Promise<void> {
  const { namespace, name } = account.metadata;
  const { ports } = context;
  if (!force) refuseInUse(await usesOf(account, context), "account", publicIdOf(account), "account_in_use");
  // Best effort and bounded: a service that is away must not keep the account.
  if (account.spec.connection !== undefined)
    await ports.connector.revoke({ namespace, name }).catch((error: unknown) => {
      ports.log.warn(
        { op: "account.revoke", "account.id": publicIdOf(account), err: error },
        "its tokens may still be valid at the service",
      );
    });
  await unlessDeleted(ports.store.delete(accountKind, namespace, name));
}
