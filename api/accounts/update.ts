import { accountKind } from "../../crds/account.ts";
import { changeResource } from "../resources/change.ts";
import { keepOnce } from "../resources/secret-texts.ts";
import type { ApiContext } from "../routes/context.ts";
import type { AccountChanges } from "./request.ts";
import { changedSpec, textsOf, type AccountResource } from "./spec.ts";

/** What is not given stays. Sources that use it get the new credentials from the operator. */
export function updateAccount(account: AccountResource, changes: AccountChanges, { ports }: ApiContext): Promise<AccountResource> {
  const { namespace, name } = account.metadata;
  const keep = keepOnce({ kind: accountKind.kind, namespace, name }, ports);
  const texts = textsOf(changes);
  return changeResource(accountKind, ports.store, account, async ({ spec }) => {
    changedSpec(spec, changes, Object.fromEntries(Object.keys(texts).map((each) => [each, { sealed: "" }]))); // Before anything is kept.
    return changedSpec(spec, changes, Object.keys(texts).length === 0 ? {} : await keep(texts));
  });
}
