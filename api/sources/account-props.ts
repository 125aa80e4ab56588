import { accountKind } from "../../crds/account.ts";
import { labels } from "../../crds/resource.ts";
import type { AccountProp } from "../../domain/component/account-props.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { resourceNameOf } from "../../domain/ids.ts";
import type { PropComplaint } from "../../domain/component/prop-types.ts";
import type { ApiContext } from "../context.ts";

/**
 * Checks that each app prop refers to an account of the source's owner and of the prop's app. Accounts of others are not found, like
 * missing ones.
 * @throws InvalidInput that lists every problem
 */
export async function checkAccounts(named: readonly AccountProp[], namespace: string, { ports }: Pick<ApiContext, "ports">): Promise<void> {
  const results = await Promise.all(named.map((prop) => complaintAbout(prop, namespace, ports)));
  const complaints = results.filter((complaint) => complaint !== undefined);
  if (complaints.length > 0)
    throw new InvalidInput(complaints.map(({ message }) => message).join("; "), { code: "invalid_props", details: complaints });
}

async function complaintAbout(
  { prop, account: id, app }: AccountProp,
  namespace: string,
  { store }: ApiContext["ports"],
): Promise<PropComplaint | undefined> {
  // Search only the namespace: a label with another owner's account id can be forged.
  const { items } = await store.list(accountKind, { namespace, labels: { [labels.id]: id }, limit: 10 });
  const named = items.length > 0 ? undefined : await store.find(accountKind, namespace, resourceNameOf(id));
  const account = [...items, named].find((each) => each !== undefined && each.metadata.deletionTimestamp === undefined);
  const list = `GET /v1/accounts${app === undefined ? "" : `?app=${encodeURIComponent(app)}`}`;
  if (account === undefined)
    return {
      prop,
      message: `prop '${prop}' names account ${id}, which is not found among those of the source's owner: ${list} lists them`,
    };
  if (app === undefined || account.spec.app === app) return undefined;
  return {
    prop,
    message: `prop '${prop}' takes an account of app '${app}', and account ${id} is one of app '${account.spec.app}': ${list} lists those that fit`,
  };
}
