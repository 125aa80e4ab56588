import { operation } from "../context.ts";
import { noContent, ok } from "../http/response/replies.ts";
import { all, nothing, one } from "../http/response/schemas.ts";
import { issueKey, keyFields, keyIdOf, keyResponse } from "./keys.ts";
import { createdKeySchema, keySchema } from "./schemas.ts";

/** The caller's API keys. */
export const keyOperations = [
  operation({
    route: "GET /users/me/keys",
    id: "listKeys",
    summary: "List the caller's API keys",
    responses: all(keySchema),
    handle: async ({ user }, { ports }) => ok((await ports.accounts.listKeys(user.id)).map(keyResponse)),
  }),
  operation({
    route: "POST /users/me/keys",
    id: "createKey",
    change: { action: "create", kind: "ApiKey" },
    summary: "Create an API key",
    description:
      "The new key has at most the scopes and the lifetime of the key that creates it. Only this response contains the key itself.",
    body: keyFields,
    neverEmpty: ["scopes", "expires_at"],
    responses: one(createdKeySchema),
    errors: [409],
    handle: async (call, { ports }) => {
      const { key, text } = await issueKey(call.user.id, call.body(), call.grant, ports);
      return ok({ ...keyResponse(key), key: text });
    },
  }),
  operation({
    route: "DELETE /users/me/keys/:id",
    id: "revokeKey",
    change: { action: "delete", kind: "ApiKey" },
    summary: "Revoke an API key",
    responses: nothing,
    errors: [409],
    handle: async (call, { ports }) => {
      await ports.accounts.revokeKey(call.user.id, keyIdOf(call, "id"));
      return noContent;
    },
  }),
];
