import { keyFields } from "../../keys/keys.ts";
import { invitationFields, memberFields } from "../../organizations/members.ts";
import { ownOrganizationFields } from "../../organizations/organizations.ts";
import { tokenFields } from "../../keys/token-request.ts";
import {
  createdKeySchema,
  keySchema,
  memberSchema,
  organizationSchema,
  tokenErrorSchema,
  tokenSchema,
  userSchema,
} from "../../resources/schemas.ts";
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
  "POST /orgs": {
    id: "createOrganization",
    summary: "Create an organization",
    description:
      "The caller becomes its admin. The plan limits how many organizations a user can create; a new organization gets the same plan.",
    body: ownOrganizationFields,
    means: {
      orgname: "Unique: letters, digits, dots, dashes and underscores; follows from the name unless given.",
      email: "Where it is reached; the caller's address unless given.",
    },
    answers: one(organizationSchema),
    errors: [409],
  },
  "DELETE /orgs/:org_id": {
    id: "deleteOrganization",
    summary: "Delete an organization that owns nothing and has no other member",
    description: "Only admins of the organization may.",
    answers: nothing,
    errors: [409],
  },
  "POST /orgs/:org_id/members": {
    id: "addMember",
    summary: "Add a member by id, username or email address",
    description: "Only admins of the organization may. Exactly one of the three names the user.",
    body: invitationFields,
    means: {
      user_id: "Id of the user, `u_…`.",
      username: "Exact username.",
      email: "Email address of the user's account.",
      role: "`admin` or `member`; `member` unless given, or what the user is already.",
    },
    answers: one(memberSchema),
    errors: [409],
  },
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
    summary: "Remove a member, or leave",
    description: "Only admins of the organization may remove others.",
    answers: nothing,
    errors: [409],
  },
} as const satisfies Operations;

/** What `routes/token.ts` serves, beside the table of routes. */
export const tokenOperations = {
  "POST /oauth/token": {
    id: "createToken",
    summary: "Get an access token for a client",
    description:
      "OAuth 2.0 client credentials (RFC 6749, section 4.4). The token is the API key itself: it has the same scopes and ends with the key.",
    authentication: "client",
    body: tokenFields,
    means: {
      grant_type: "`client_credentials`.",
      client_id: "Your user's id, `u_…`, or the API key's, `pk_…`; or in the Authorization header (Basic).",
      client_secret: "The API key; or in the Authorization header (Basic).",
      scope: "Ignored: the token has the scopes of the key, as the answer says.",
    },
    answers: {
      200: tokenSchema,
      400: tokenErrorSchema,
      401: tokenErrorSchema,
      413: tokenErrorSchema,
      429: tokenErrorSchema,
      503: tokenErrorSchema,
    },
  },
} as const satisfies Operations;
