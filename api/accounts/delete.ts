import { accountKind } from "../../crds/account.ts";
import { sourceKind } from "../../crds/source.ts";
import { accountIdsAmong } from "../../domain/account-props.ts";
import { Conflict } from "../../domain/errors.ts";
import { idOfResourceName } from "../../domain/ids.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { ApiContext } from "../routes/context.ts";
import type { AccountResource } from "./spec.ts";

/** Sources named in a refusal; of more, their number tells. */
const mostNamed = 20;

/** @throws Conflict while sources use it, unless `force` */
export async function deleteAccount(account: AccountResource, force: boolean, { ports }: ApiContext): Promise<void> {
  const { namespace, name } = account.metadata;
  // Sources may also call it by its name.
  const ids = new Set([publicIdOf(account), idOfResourceName(name)].filter((id) => id !== undefined));
  if (!force) for (const id of ids) await refuseInUse(id, namespace, ports);
  await ports.store.delete(accountKind, namespace, name);
}

async function refuseInUse(id: string, namespace: string, { pages }: ApiContext["ports"]): Promise<void> {
  const { items, total } = await pages.listPage(sourceKind, { namespace, mentions: id }, { limit: 100, cursor: null });
  const users = items.filter(({ metadata, spec }) => metadata.deletionTimestamp === undefined && accountIdsAmong(spec.props).includes(id));
  if (users.length === 0) return;
  const sources = users.slice(0, mostNamed).map(publicIdOf);
  const others = items.length < total ? " and others" : "";
  throw new Conflict(
    `account ${id} is used by ${sources.join(", ")}${others}: choose another account there, delete them, or delete it all the same with force=true`,
    { code: "account_in_use", details: { sources } },
  );
}
