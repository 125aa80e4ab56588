import { accountKind } from "../../crds/account.ts";
import { sourceKind } from "../../crds/source.ts";
import { accountIdsAmong } from "../../domain/component/account-props.ts";
import { Conflict } from "../../domain/errors.ts";
import { idOfResourceName } from "../../domain/ids.ts";
import type { PageRequest } from "../../domain/page.ts";
import { unlessDeleted } from "../resources/change.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { Listed } from "../ports.ts";
import type { ApiContext } from "../context.ts";
import { asItRuns } from "../resources/source.ts";
import type { SourceResource } from "../resources/source.ts";
import type { AccountResource } from "./spec.ts";

/** Bound on sources that a refusal lists. */
const maxNamed = 20;
const pageSize = 100;

/** @throws Conflict while sources use it, unless `force` */
export async function deleteAccount(account: AccountResource, force: boolean, { ports }: ApiContext): Promise<void> {
  const { namespace, name } = account.metadata;
  // Sources may also refer to the account by its resource name.
  const ids = new Set([publicIdOf(account), idOfResourceName(name)].filter((id) => id !== undefined));
  if (!force) for (const id of ids) await refuseInUse(id, namespace, ports);
  await unlessDeleted(ports.store.delete(accountKind, namespace, name));
}

async function refuseInUse(id: string, namespace: string, ports: ApiContext["ports"]): Promise<void> {
  const { users, hasMore } = await usersOf(id, namespace, ports);
  if (users.length === 0) return;
  const sources = users.slice(0, maxNamed).map(publicIdOf);
  const others = hasMore || users.length > maxNamed ? " and others" : "";
  throw new Conflict(
    `account ${id} is used by ${sources.join(", ")}${others}: choose another account there, delete them, or delete the account anyway with force=true`,
    { code: "account_in_use", details: { sources } },
  );
}

/** Finds users on the first page that has any. A source that mentions an id may not use it, and one being deleted does not count. */
async function usersOf(
  id: string,
  namespace: string,
  { pages }: ApiContext["ports"],
): Promise<{ readonly users: readonly SourceResource[]; readonly hasMore: boolean }> {
  for (let cursor: PageRequest["cursor"] = null; ;) {
    const { items }: Listed<SourceResource> = await pages.listPage(sourceKind, { namespace, mentions: id }, { limit: pageSize, cursor });
    const users = items.filter((source) => source.metadata.deletionTimestamp === undefined && uses(source, id));
    const last = items.at(-1);
    const hasMore = items.length === pageSize && last !== undefined;
    if (users.length > 0 || !hasMore) return { users, hasMore };
    cursor = { side: "after", id: publicIdOf(last) };
  }
}

/** Whether the spec or the running version uses the account. */
const uses = (source: SourceResource, account: string): boolean =>
  [source, asItRuns(source)].some(({ spec }) => accountIdsAmong(spec.props).includes(account));
