import { accountKind, type AccountResource } from "../../crds/account.ts";
import { isMissingToken, readCredentials, sizeProblem } from "../account/credentials.ts";
import { NotFound } from "../../domain/errors.ts";
import { resourceNameOf } from "../../domain/ids.ts";
import type { OperatorPorts } from "../ports.ts";
import type { Blocked } from "./blocked.ts";
import type { AccountReference } from "../versions.ts";

export type AccountPorts = Pick<OperatorPorts, "secretValues" | "store">;

/** What runs see of the account as `$auth`, or why it is unavailable. */
export type AccountAuth = { readonly auth: Readonly<Record<string, string>> } | { readonly blocked: Blocked };

/** The account's credentials by field. Accounts of other namespaces are reported like missing ones. @param prop named in messages */
export async function readAccountAuth(
  namespace: string,
  prop: string,
  { account: id, app }: AccountReference,
  ports: AccountPorts,
): Promise<AccountAuth> {
  const account = await findAccount(namespace, id, ports);
  if (account === undefined)
    return blocked("AccountNotFound", `prop '${prop}' refers to account ${id}, which does not exist: create it or choose another`);
  if (app !== undefined && account.spec.app !== app)
    return blocked(
      "AccountOfOtherApp",
      `prop '${prop}' takes an account of app '${app}', but account ${id} is of app '${account.spec.app}'`,
    );
  const credentials = await readCredentials(account, ports);
  if (credentials.missing.length > 0) {
    const message = credentials.missing.map(({ field, error }) => `credential ${field}: ${error.message}`).join("; ");
    const transient = credentials.missing.every(({ error }) => error instanceof NotFound);
    return {
      blocked: {
        reason: "AccountNotReady",
        message: `account ${id} of prop '${prop}' is not complete: ${message}`,
        transient,
        poll: true,
      },
    };
  }
  const tooLarge = sizeProblem(credentials);
  if (tooLarge !== undefined)
    return { blocked: { reason: "AccountNotReady", message: `account ${id} of prop '${prop}': ${tooLarge}`, transient: false } };
  if (isMissingToken(account, credentials)) return waitForToken(prop, id, account);
  return { auth: credentials.values };
}

/**
 * By its id, else by the resource name of that id: an Account named `apn-shop` can be referred to as `apn_shop`, even if another owner has
 * that id.
 */
export async function findAccount(
  namespace: string,
  id: string,
  { store }: Pick<AccountPorts, "store">,
): Promise<AccountResource | undefined> {
  const known = await store.findById(accountKind, id);
  const found = known?.metadata.namespace === namespace ? known : await store.find(accountKind, namespace, resourceNameOf(id));
  return found?.metadata.deletionTimestamp === undefined && found?.invalid === undefined ? found : undefined;
}

/** A stalled account's own message gives the reason; then it is not waited for. */
function waitForToken(prop: string, id: string, { status }: AccountResource): AccountAuth {
  const stalled = status.conditions?.find(({ type, status: state }) => type === "Stalled" && state === "True");
  const why = stalled === undefined ? "its access token is being refreshed" : stalled.message;
  const message = `account ${id} of prop '${prop}' has no access token yet: ${why}`;
  return { blocked: { reason: "AccountNotReady", message, transient: stalled === undefined } };
}

const blocked = (reason: Blocked["reason"], message: string): AccountAuth => ({
  blocked: { reason, message, transient: reason === "AccountNotFound" },
});
