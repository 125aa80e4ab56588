import { accountKind } from "../../crds/account.ts";
import { createAccount } from "./create.ts";
import { deleteAccount } from "./delete.ts";
import { accountChanges, accountFields, deletionFields } from "./request.ts";
import type { AccountResource } from "./spec.ts";
import { updateAccount } from "./update.ts";
import { noContent, ok, type Call } from "../http/request/call.ts";
import { pathOf } from "../http/routing/handle.ts";
import { parse } from "../http/request/parameters.ts";
import { accountResponse } from "./response.ts";
import type { ApiContext } from "../context.ts";

/** Accounts. Responses never contain credentials. */
export function accountRoutes(context: ApiContext) {
  const { access, ports } = context;
  const accountOf = (call: Call): Promise<AccountResource> => access.get(accountKind, "account", pathOf(call, "id"), call.user);
  return {
    create: async (call: Call) => {
      const fields = parse(accountFields, call.body);
      const account = await createAccount(fields, await access.owner(call), context);
      await ports.pages.show(accountKind, account);
      return ok(accountResponse(account));
    },
    get: async (call: Call) => ok(accountResponse(await accountOf(call))),
    update: async (call: Call) => {
      const changes = parse(accountChanges, call.body);
      const account = await updateAccount(await accountOf(call), changes, context);
      await ports.pages.show(accountKind, account);
      return ok(accountResponse(account, ports.clock.now()));
    },
    delete: async (call: Call) => {
      const { force } = parse(deletionFields, call.parameters);
      await deleteAccount(await accountOf(call), force === true, context);
      return noContent;
    },
  };
}
