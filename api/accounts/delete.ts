import { accountKind } from "../../crds/account.ts";
import { Conflict } from "../../domain/errors.ts";
import type { ApiContext } from "../context.ts";
import { unlessDeleted } from "../resources/change.ts";
import { publicIdOf } from "../resources/identity.ts";
import { idsOf, namedUsers } from "../resources/users-of.ts";
import type { AccountResource } from "./spec.ts";
import { usesOf } from "./uses.ts";

/** @throws Conflict while sources or workflows use it, unless `force` */
export async function deleteAccount(account: AccountResource, force: boolean, context: ApiContext): Promise<void> {
  const { namespace, name } = account.metadata;
  const { ports } = context;
  if (!force) await refuseInUse(account, context);
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

async function refuseInUse(account: AccountResource, context: ApiContext): Promise<void> {
  const { sources, workflows } = await usesOf(account, context);
  const users = [...sources, ...workflows];
  if (users.length === 0) return;
  throw new Conflict(
    `account ${publicIdOf(account)} is used by ${namedUsers(users)}: choose another account there, delete them, or delete the account anyway with force=true`,
    { code: "account_in_use", details: { sources: idsOf(sources), workflows: idsOf(workflows) } },
  );
}
