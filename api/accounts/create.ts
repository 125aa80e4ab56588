import { accountKind, appLabelOf } from "../../crds/account.ts";
import { labels } from "../../crds/resource.ts";
import { newId, resourceNameOf } from "../../domain/ids.ts";
import { confirmOwned } from "../resources/owner-present.ts";
import { keepOnce } from "../resources/secret-texts.ts";
import type { ApiContext } from "../context.ts";
import type { AccountFields } from "./request.ts";
import { findIssuer } from "./client-credentials.ts";
import { changedSpec, textsOf, unread, type AccountResource } from "./spec.ts";

/** Stores the secret texts first, so that an account never refers to missing ones. */
export async function createAccount({ app, ...fields }: AccountFields, owner: string, context: ApiContext): Promise<AccountResource> {
  const { ports } = context;
  const id = newId("account", ports.randomBytes);
  const holder = { kind: accountKind.kind, namespace: await ports.owners.ensure(owner), name: resourceNameOf(id) };
  const texts = textsOf(fields);
  const issuer = await findIssuer(app, fields, holder.namespace, context);
  const empty = { app, name: app, credentials: {} };
  changedSpec(empty, fields, unread(texts), issuer); // Validates before any text is stored.
  const kept = Object.keys(texts).length === 0 ? {} : await keepOnce(holder, ports)(texts);
  const account = await ports.store.create(accountKind, {
    name: holder.name,
    namespace: holder.namespace,
    labels: { [labels.id]: id, [labels.owner]: owner, [labels.app]: appLabelOf(app) },
    spec: changedSpec(empty, fields, kept, issuer),
  });
  await confirmOwned(accountKind, account, owner, ports);
  return account;
}
