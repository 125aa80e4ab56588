import { accountKind } from "../../crds/account.ts";
import { lacksToken, readCredentials, tooLarge, type AccountResource } from "../account/credentials.ts";
import { NotFound } from "../../domain/errors.ts";
import { resourceNameOf } from "../../domain/ids.ts";
import type { OperatorPorts } from "../ports.ts";
import type { Blocked } from "./blocked.ts";

export type AccountPorts = Pick<OperatorPorts, "secretValues" | "store">;

/** An account that a prop refers to by its public id. */
export interface AccountReference {
  readonly account: string;
  /** Name slug of the app that the prop is of; undefined: any. */
  readonly app: string | undefined;
}

/** What runs see of the account as `$auth`, or why there is none. */
export type AccountAuth = { readonly auth: Readonly<Record<string, string>> } | { readonly blocked: Blocked };

/**
 * The account's credentials by field. Accounts of other namespaces are not found, just as those that do not exist.
 * @param prop named in what is told
 */
export async function readAccountAuth(
  namespace: string,
  prop: string,
  { account: id, app }: AccountReference,
  ports: AccountPorts,
): Promise<AccountAuth> {
  const account = await findAccount(namespace, id, ports);
  if (account === undefined)
    return blocked("AccountNotFound", `prop '${prop}' names account ${id}, which does not exist: create it, or choose another`);
  if (app !== undefined && account.spec.app !== app)
    return blocked(
      "AccountOfOtherApp",
      `prop '${prop}' takes an account of app '${app}', and account ${id} is one of app '${account.spec.app}'`,
    );
  const credentials = await readCredentials(account, ports);
  if (credentials.missing.length > 0) {
    const message = credentials.missing.map(({ field, error }) => `credential ${field}: ${error.message}`).join("; ");
    const passing = credentials.missing.every(({ error }) => error instanceof NotFound);
    return {
      blocked: {
        reason: "AccountNotReady",
        message: `account ${id} of prop '${prop}' is not complete: ${message}`,
        passing,
        lookAgain: true,
      },
    };
  }
  const large = tooLarge(credentials);
  if (large !== undefined)
    return { blocked: { reason: "AccountNotReady", message: `account ${id} of prop '${prop}': ${large}`, passing: false } };
  if (lacksToken(account, credentials)) return notRefreshed(prop, id, account);
  return { auth: credentials.values };
}

/** By its id, else by the name that stands for it: whoever writes an Account named `apn-shop` may call it `apn_shop`, also where another owner has that id. */
async function findAccount(namespace: string, id: string, { store }: AccountPorts): Promise<AccountResource | undefined> {
  const known = await store.findById(accountKind, id);
  const found = known?.metadata.namespace === namespace ? known : await store.find(accountKind, namespace, resourceNameOf(id));
  return found?.metadata.deletionTimestamp === undefined && found?.invalid === undefined ? found : undefined;
}

/** The account itself says why; whoever refused it once is waited for no longer. */
function notRefreshed(prop: string, id: string, { status }: AccountResource): AccountAuth {
  const stalled = status.conditions?.find(({ type, status: state }) => type === "Stalled" && state === "True");
  const why = stalled === undefined ? "its access token is being refreshed" : stalled.message;
  const message = `account ${id} of prop '${prop}' has no access token yet: ${why}`;
  return { blocked: { reason: "AccountNotReady", message, passing: stalled === undefined } };
}

const blocked = (reason: Blocked["reason"], message: string): AccountAuth => ({
  blocked: { reason, message, passing: reason === "AccountNotFound" },
});
