import { accountKind, appLabelOf } from "../../crds/account.ts";
import { labels } from "../../crds/resource.ts";
import { newId, resourceNameOf } from "../../domain/ids.ts";
import { confirmOwned } from "../resources/owner-present.ts";
import { keepOnce } from "../resources/secret-texts.ts";
import type { ApiContext } from "../context.ts";
import type { AccountFields } from "./request.ts";
import { changedSpec, textsOf, type AccountResource } from "./spec.ts";

/** Stores the secret texts first, so that an account never refers to missing ones. */
export async function createAccount({ app, ...fields }: AccountFields, owner: string, { ports }: ApiContext): Promise<AccountResource> {
  const id = newId("account", ports.randomBytes);
  const holder = { kind: accountKind.kind, namespace: await ports.owners.ensure(owner), name: resourceNameOf(id) };
  const texts = textsOf(fields);
  const kept = Object.keys(texts).length === 0 ? {} : await keepOnce(holder, ports)(texts);
  const account = await ports.store.create(accountKind, {
    name: holder.name,
    namespace: holder.namespace,
    labels: { [labels.id]: id, [labels.owner]: owner, [labels.app]: appLabelOf(app) },
    spec: changedSpec({ app, name: app, credentials: {} }, fields, kept),
  });
  await confirmOwned(accountKind, account, owner, ports);
  return account;
}
