import { organizationFields } from "../../organizations/organizations.ts";
import { chosenPlan } from "../../admin/plans.ts";
import { userFields } from "../../admin/users.ts";
import { keyFields } from "../../keys/keys.ts";
import { memberFields } from "../../organizations/members.ts";
import { planFields } from "../../owners/plans.ts";
import { administeredMemberSchema, administeredOrganizationSchema, administeredUserSchema, planSchema } from "../../admin/schemas.ts";
import { createdKeySchema, keySchema } from "../../resources/schemas.ts";
import { pages } from "../fields.ts";
import { all, nothing, one, page, type Operations } from "../operation.ts";

export const administeredUsers = {
  "GET /users": { id: "listUsers", summary: "All users", query: pages, answers: page(administeredUserSchema) },
  "POST /users": { id: "createUser", summary: "Add a user", body: userFields, answers: one(administeredUserSchema), errors: [409] },
  "GET /users/:id": { id: "getUser", summary: "A user", answers: one(administeredUserSchema) },
  "DELETE /users/:id": {
    id: "deleteUser",
    summary: "Remove a user who owns nothing, with keys and memberships",
    answers: nothing,
    errors: [409],
  },
  "GET /users/:id/keys": { id: "listKeys", summary: "API keys of a user", answers: all(keySchema) },
  "POST /users/:id/keys": {
    id: "createKey",
    summary: "Make an API key for a user",
    description: "The key itself is in this answer and in no other.",
    body: keyFields,
    means: { scopes: "What it may do; by default all.", expires_at: "Epoch seconds; by default it does not expire." },
    answers: one(createdKeySchema),
    errors: [409],
  },
  "DELETE /users/:id/keys/:key_id": { id: "revokeKey", summary: "Revoke an API key", answers: nothing },
  "PUT /users/:id/plan": { id: "chooseUserPlan", summary: "Give a user a plan", body: chosenPlan, answers: one(planSchema) },
} as const satisfies Operations;

export const administeredOrganizations = {
  "GET /orgs": { id: "listOrganizations", summary: "All organizations", query: pages, answers: page(administeredOrganizationSchema) },
  "POST /orgs": {
    id: "createOrganization",
    summary: "Add an organization",
    body: organizationFields,
    answers: one(administeredOrganizationSchema),
    errors: [404, 409],
  },
  "GET /orgs/:id": { id: "getOrganization", summary: "An organization", answers: one(administeredOrganizationSchema) },
  "DELETE /orgs/:id": {
    id: "deleteOrganization",
    summary: "Remove an organization that owns nothing and has no members",
    answers: nothing,
    errors: [409],
  },
  "GET /orgs/:id/members": { id: "listMembers", summary: "Who belongs to an organization", answers: all(administeredMemberSchema) },
  "PUT /orgs/:id/members/:user_id": {
    id: "putMember",
    summary: "Add a member, or change the role",
    body: memberFields,
    answers: one(administeredMemberSchema),
  },
  "DELETE /orgs/:id/members/:user_id": { id: "removeMember", summary: "Remove a member", answers: nothing },
  "PUT /orgs/:id/plan": {
    id: "chooseOrganizationPlan",
    summary: "Give an organization a plan",
    body: chosenPlan,
    answers: one(planSchema),
  },
} as const satisfies Operations;

export const administeredPlans = {
  "GET /plans": { id: "listPlans", summary: "All plans", answers: all(planSchema) },
  "PUT /plans/:name": {
    id: "savePlan",
    summary: "Make a plan, or change it for all who have it",
    body: planFields,
    means: {
      weight: "1 to 100, by default 1: of runs that wait for a turn, its owners get so many times as many as those of weight 1.",
      max_organizations: "How many organizations one user can create, 20 by default. Each has its own quotas, with the user's plan.",
    },
    answers: one(planSchema),
  },
  "DELETE /plans/:name": { id: "deletePlan", summary: "Remove a plan that nobody has", answers: nothing, errors: [409] },
} as const satisfies Operations;

export const adminOperations = { ...administeredUsers, ...administeredOrganizations, ...administeredPlans };
