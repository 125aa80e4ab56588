import { keyFields } from "../../owners/keys.ts";
import { memberFields } from "../../owners/members.ts";
import { createdKeySchema, keySchema, memberSchema, organizationSchema, userSchema } from "../../responses/schemas.ts";
import { all, nothing, one, type Operations } from "../operation.ts";

export const userOperations = {
  "GET /users/me": { id: "getMe", summary: "The caller, their organizations and what they used", answers: one(userSchema) },
  "GET /users/me/keys": { id: "listKeys", summary: "The caller's API keys", answers: all(keySchema) },
  "POST /users/me/keys": {
    id: "createKey",
    summary: "Make an API key",
    description: "It can do no more than the key that it is made with.",
    body: keyFields,
    answers: one(createdKeySchema),
    errors: [409],
  },
  "DELETE /users/me/keys/:id": { id: "revokeKey", summary: "Revoke an API key", answers: nothing, errors: [409] },
  "GET /orgs/:org_id": { id: "getOrganization", summary: "An organization of the caller's", answers: one(organizationSchema) },
  "GET /orgs/:org_id/members": { id: "listMembers", summary: "Who belongs to an organization", answers: all(memberSchema) },
  "PUT /orgs/:org_id/members/:user_id": {
    id: "putMember",
    summary: "Add a member, or change their role",
    description: "Only admins of the organization may.",
    body: memberFields,
    answers: one(memberSchema),
    errors: [409],
  },
  "DELETE /orgs/:org_id/members/:user_id": {
    id: "removeMember",
    summary: "Remove a member",
    description: "Only admins of the organization may.",
    answers: nothing,
    errors: [409],
  },
} as const satisfies Operations;
