import { accountKind } from "../../crds/account.ts";
import { changeResource } from "../resources/change.ts";
import { keepOnce } from "../resources/secret-texts.ts";
import type { ApiContext } from "../context.ts";
import type { AccountChanges } from "./request.ts";
import { findIssuer } from "./client-credentials.ts";
import { changedSpec, textsOf, unread, type AccountResource } from "./spec.ts";

/** Changes the given fields. The operator passes new credentials on to sources. */
export async function updateAccount(account: AccountResource, changes: AccountChanges, context: ApiContext): Promise<AccountResource> {
  const { ports } = context;
  const { namespace, name } = account.metadata;
  const keep = keepOnce({ kind: accountKind.kind, namespace, name }, ports);
  const texts = textsOf(changes);
  const issuer = await findIssuer(account.spec.app, changes, namespace, context);
  return changeResource(accountKind, ports.store, account, async ({ spec }) => {
    changedSpec(spec, changes, unread(texts), issuer); // Validates before any text is stored.
    return changedSpec(spec, changes, Object.keys(texts).length === 0 ? {} : await keep(texts), issuer);
  });
}
