import { accountKind } from "../../crds/account.ts";
import { changeResource } from "../resources/change.ts";
import { keepOnce } from "../resources/secret-texts.ts";
import type { ApiContext } from "../context.ts";
import type { AccountChanges } from "./request.ts";
import { changedSpec, textsOf, type AccountResource } from "./spec.ts";

/** Changes the given fields. The operator passes new credentials on to sources. */
export function updateAccount(account: AccountResource, changes: AccountChanges, { ports }: ApiContext): Promise<AccountResource> {
  const { namespace, name } = account.metadata;
  const keep = keepOnce({ kind: accountKind.kind, namespace, name }, ports);
  const texts = textsOf(changes);
  return changeResource(accountKind, ports.store, account, async ({ spec }) => {
    changedSpec(spec, changes, Object.fromEntries(Object.keys(texts).map((each) => [each, { sealed: "" }]))); // Validates before any text is stored.
    return changedSpec(spec, changes, Object.keys(texts).length === 0 ? {} : await keep(texts));
  });
}
