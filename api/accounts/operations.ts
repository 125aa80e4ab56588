import { accountKind, appLabelOf } from "../../crds/account.ts";
import { labels } from "../../crds/resource.ts";
import { operation, type ApiContext } from "../context.ts";
import type { Call } from "../http/request/call.ts";
import { ownerParameters } from "../http/request/parameters.ts";
import { noContent, ok } from "../http/response/replies.ts";
import { all, nothing, one } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import { listOperations } from "../list-operations.ts";
import { createAccount } from "./create.ts";
import { deleteAccount } from "./delete.ts";
import { accountChanges, accountFields, deletionFields, listFields } from "./request.ts";
import { accountResponse } from "./response.ts";
import { accountSchema, accountUseSchema } from "./schemas.ts";
import type { AccountResource } from "./spec.ts";
import { updateAccount } from "./update.ts";
import { usesOf, usesResponse } from "./uses.ts";

/** Of each kind, for one response. */
const maxUses = 100;

const accountOf = (call: Call, { access }: ApiContext): Promise<AccountResource> =>
  access.get(accountKind, "account", pathOf(call, "id"), call.user);

/**
 * Responses never contain credentials. No client can read them to send them back, so PUT merges `credentials` and `oauth`: absent fields
 * stay, null removes one. Only the operator settles an account's Secrets, because the status names tokens that change without the API.
 */
export const accountOperations = [
  ...listOperations({
    path: "accounts",
    id: "Accounts",
    noun: "accounts",
    kind: accountKind,
    schema: accountSchema,
    filters: listFields,
    selectionOf: ({ app }) => (app === undefined || app === "" ? {} : { labels: { [labels.app]: appLabelOf(app) } }),
    respond: async (accounts) => accounts.map((account) => accountResponse(account)),
  }),
  operation({
    route: "POST /accounts",
    id: "createAccount",
    change: { action: "create", kind: "Account" },
    summary: "Store the credentials of an app",
    query: ownerParameters,
    body: accountFields,
    responses: one(accountSchema),
    handle: async (call, context) => {
      const account = await createAccount(call.body(), await context.access.owner(call), context);
      await context.ports.pages.show(accountKind, account);
      return ok(accountResponse(account));
    },
  }),
  operation({
    route: "GET /accounts/:id",
    id: "getAccount",
    summary: "Get an account",
    responses: one(accountSchema),
    handle: async (call, context) => ok(accountResponse(await accountOf(call, context))),
  }),
  operation({
    route: "GET /accounts/:id/uses",
    id: "listAccountUses",
    summary: "List the sources and workflows that use an account",
    description: "At most 100 of each.",
    responses: all(accountUseSchema),
    handle: async (call, context) => ok(usesResponse(await usesOf(await accountOf(call, context), context, maxUses))),
  }),
  operation({
    route: "PUT /accounts/:id",
    id: "updateAccount",
    change: { action: "update", kind: "Account" },
    summary: "Change an account",
    description: "Absent fields stay unchanged. Null removes a field.",
    body: accountChanges,
    responses: one(accountSchema),
    errors: [409],
    handle: async (call, context) => {
      const changes = call.body();
      const account = await updateAccount(await accountOf(call, context), changes, context);
      await context.ports.pages.show(accountKind, account);
      return ok(accountResponse(account, context.ports.clock.now()));
    },
  }),
  operation({
    route: "DELETE /accounts/:id",
    id: "deleteAccount",
    change: { action: "delete", kind: "Account" },
    summary: "Delete an account that no source uses",
    query: deletionFields,
    responses: nothing,
    errors: [409],
    handle: async (call, context) => {
      const { force } = call.query();
      await deleteAccount(await accountOf(call, context), force === true, context);
      return noContent;
    },
  }),
];
