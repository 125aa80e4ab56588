import { z } from "zod";
import { Conflict, NotFound } from "../../domain/errors.ts";
import { isId, newId } from "../../domain/ids.ts";
import { pages, parsePage, text } from "../http/request/parameters.ts";
import { noContent, ok, okPage } from "../http/response/replies.ts";
import { all, nothing, one, page } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import { everyGrant, issueKey, keyFields, keyIdOf, keyResponse } from "../keys/keys.ts";
import { createdKeySchema, keySchema } from "../keys/schemas.ts";
import { emailConfirmedField, emailField, nameField } from "../owners/names.ts";
import { clearOwned, kindsOwnedBy } from "../owners/owned.ts";
import { planResponse } from "../owners/plans.ts";
import type { OwnerNotes } from "../owners/ports.ts";
import type { User } from "../http/ports.ts";
import type { ApiPorts } from "../ports.ts";
import { epochSeconds } from "../resources/identity.ts";
import { adminOperation } from "./context.ts";
import { endingBy, endUser, type Remaining } from "./end-owner.ts";
import { administeredUserSchema, endingSchema, planSchema } from "./schemas.ts";

const userFields = z.object({
  username: nameField.describe("Unique: letters, digits, dots, dashes and underscores."),
  email: emailField.describe("Email address."),
  email_confirmed: emailConfirmedField,
});
export const chosenPlan = z.object({ plan: text.describe("Name of a plan.") });

export const adminUserOperations = [
  adminOperation({
    route: "GET /users",
    id: "listUsers",
    summary: "List all users",
    query: pages,
    responses: page(administeredUserSchema),
    handle: async ({ parameters }, { ports }) => okPage(await ports.accounts.pageUsers(parsePage(parameters)), userResponse),
  }),
  adminOperation({
    route: "POST /users",
    id: "createUser",
    change: { action: "create", kind: "User" },
    summary: "Create a user",
    body: userFields,
    responses: one(administeredUserSchema),
    errors: [409],
    handle: async (call, { ports }) => {
      const { username, email, email_confirmed } = call.body();
      const id = newId("user", ports.randomBytes);
      await ports.accounts.createUser({ id, username, email }, email_confirmed ?? false);
      return ok(userResponse(await getUser(id, ports)));
    },
  }),
  adminOperation({
    route: "GET /users/:id",
    id: "getUser",
    summary: "Get a user",
    responses: one(administeredUserSchema),
    handle: async (call, { ports }) => ok(userResponse(await getUser(pathOf(call, "id"), ports))),
  }),
  adminOperation({
    route: "DELETE /users/:id",
    id: "deleteUser",
    change: { action: "delete", kind: "User" },
    summary: "Delete a user who owns nothing, with keys and memberships",
    responses: nothing,
    errors: [409],
    handle: async (call, { ports }) => {
      const { id } = await getUser(pathOf(call, "id"), ports);
      const owned = await kindsOwnedBy(id, ports);
      if (owned.length > 0)
        throw new Conflict(
          `${id} owns resources (${owned.join(", ")}): end them first with DELETE /admin/v1/users/${id}/resources, or revoke the user's keys`,
          {
            code: "user_owns_resources",
            details: { kinds: owned },
          },
        );
      await ports.accounts.deleteUser(id);
      await clearOwned(id, ports);
      return noContent;
    },
  }),
  adminOperation({
    route: "DELETE /users/:id/resources",
    id: "endUser",
    summary: "Delete all that a user has, and revoke the user's keys",
    description:
      "Deletes the user's resources as the user would, and the organizations of which the user is the only member. Most deletions go on in the background: repeat the request until `ended` is true, then delete the user. The audit log names each resource.",
    responses: one(endingSchema),
    handle: async (call, { ports }) => {
      const { id } = await getUser(pathOf(call, "id"), ports);
      return ok(endingResponse(id, await endUser(id, endingBy("adminEndUser", call.address, ports))));
    },
  }),
  adminOperation({
    route: "GET /users/:id/keys",
    id: "listKeys",
    summary: "List the API keys of a user",
    responses: all(keySchema),
    handle: async (call, { ports }) => {
      const user = await getUser(pathOf(call, "id"), ports);
      return ok((await ports.accounts.listKeys(user.id)).map(keyResponse));
    },
  }),
  adminOperation({
    route: "POST /users/:id/keys",
    id: "createKey",
    change: { action: "create", kind: "ApiKey" },
    summary: "Create an API key for a user",
    description: "Only this response contains the key itself.",
    body: keyFields,
    neverEmpty: ["scopes", "expires_at"],
    responses: one(createdKeySchema),
    errors: [409],
    handle: async (call, { ports }) => {
      const fields = call.body();
      const user = await getUser(pathOf(call, "id"), ports);
      const { key, text: secret } = await issueKey(user.id, fields, everyGrant, ports);
      return ok({ ...keyResponse(key), key: secret });
    },
  }),
  adminOperation({
    route: "DELETE /users/:id/keys/:key_id",
    id: "revokeKey",
    change: { action: "delete", kind: "ApiKey" },
    summary: "Revoke an API key",
    responses: nothing,
    handle: async (call, { ports }) => {
      const user = await getUser(pathOf(call, "id"), ports);
      await ports.accounts.revokeKey(user.id, keyIdOf(call, "key_id"));
      return noContent;
    },
  }),
  adminOperation({
    route: "PUT /users/:id/plan",
    id: "chooseUserPlan",
    change: { action: "choose_plan", kind: "User" },
    summary: "Choose the plan of a user",
    body: chosenPlan,
    responses: one(planSchema),
    handle: async (call, { ports: { accounts } }) => {
      const { id } = await getUser(pathOf(call, "id"), { accounts });
      await accounts.choosePlan(id, call.body().plan);
      return ok(planResponse(await accounts.planOf(id)));
    },
  }),
];

export const endingResponse = (id: string, remaining: readonly Remaining[]) => ({
  id,
  ended: remaining.length === 0,
  remaining: remaining.map(({ owner, kind, count }) => ({ owner_id: owner, kind, count })),
});

function userResponse({ id, username, email, isEmailConfirmed, createdAt, plan }: User & OwnerNotes) {
  return { id, username, email, email_confirmed: isEmailConfirmed, plan, created_at: epochSeconds(createdAt) };
}

/** @throws NotFound */
export async function getUser(id: string, { accounts }: Pick<ApiPorts, "accounts">): Promise<User & OwnerNotes> {
  const user = isId("user", id) ? await accounts.findUser(id) : undefined;
  if (user === undefined) throw new NotFound(`user '${id.slice(0, 80)}' is not found`);
  return user;
}
