import { accountChanges, accountFields, deletionFields, listFields } from "../../accounts/request.ts";
import { accountSchema } from "../../resources/schemas.ts";
import { mine, owned, pages } from "../fields.ts";
import { nothing, one, page, type Operations } from "../operation.ts";

export const accountOperations = {
  "GET /users/me/accounts": {
    id: "listMyAccounts",
    summary: "The caller's accounts",
    query: listFields.extend(mine.shape),
    answers: page(accountSchema),
  },
  "GET /orgs/:org_id/accounts": {
    id: "listAccounts",
    summary: "An organization's accounts",
    query: listFields.extend(pages.shape),
    answers: page(accountSchema),
  },
  "POST /accounts": {
    id: "createAccount",
    summary: "Keep the credentials of an app",
    query: owned,
    body: accountFields,
    answers: one(accountSchema),
  },
  "GET /accounts/:id": { id: "getAccount", summary: "An account", answers: one(accountSchema) },
  "PUT /accounts/:id": {
    id: "updateAccount",
    summary: "Change an account",
    description: "What is not given stays, field by field; null removes a field.",
    body: accountChanges,
    answers: one(accountSchema),
    errors: [409],
  },
  "DELETE /accounts/:id": {
    id: "deleteAccount",
    summary: "Delete an account that no source uses",
    query: deletionFields,
    answers: nothing,
    errors: [409],
  },
} as const satisfies Operations;
