import { operation } from "../context.ts";
import { ownerParameters } from "../http/request/parameters.ts";
import { accepted, ok } from "../http/response/replies.ts";
import { inProgress, one } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import { emailResponse, organizationFields } from "./response.ts";
import { emailConfirmationSchema, ownerSettingsSchema, userSchema } from "./schemas.ts";
import { usageOf, usageSchema } from "./usage.ts";
import { describeUse } from "./use.ts";

export const userOperations = [
  operation({
    route: "GET /users/me",
    id: "getMe",
    summary: "Get the caller with their organizations and usage",
    responses: one(userSchema),
    handle: async ({ user }, { ports }) => {
      const { id, username, email } = user;
      const { accounts } = ports;
      const [organizations, plan, found] = await Promise.all([accounts.organizationsOf(id), accounts.planOf(id), accounts.findUser(id)]);
      const orgs = organizations.map(organizationFields);
      const email_confirmed = found?.isEmailConfirmed === true;
      return ok({ id, username, email, email_confirmed, orgs, ...(await describeUse(id, plan, ports)) });
    },
  }),
  operation({
    route: "GET /users/me/usage",
    id: "getMyUsage",
    summary: "Get the caller's usage of today, with quotas",
    description: "With `org_id`: that of the organization.",
    query: ownerParameters,
    responses: one(usageSchema),
    handle: async (call, { access, ports }) => ok(await usageOf(await access.owner(call), ports)),
  }),
  operation({
    route: "GET /orgs/:org_id/usage",
    id: "getUsage",
    summary: "Get an organization's usage of today, with quotas",
    responses: one(usageSchema),
    handle: async (call, { access, ports }) => {
      const organization = pathOf(call, "org_id");
      await access.checkOrganization(call.user, organization);
      return ok(await usageOf(organization, ports));
    },
  }),
  operation({
    route: "PUT /users/me",
    id: "updateMe",
    change: { action: "update", kind: "User" },
    summary: "Choose whether to get mails about errors",
    body: ownerSettingsSchema,
    responses: one(ownerSettingsSchema),
    handle: async (call, { ports }) => {
      const { error_mails } = call.body();
      await ports.accounts.setErrorMails(call.user.id, error_mails);
      return ok({ error_mails });
    },
  }),
  operation({
    route: "POST /users/me/email_confirmation",
    id: "confirmMyEmail",
    change: { action: "update", kind: "User" },
    summary: "Have a link mailed that confirms the caller's address",
    description:
      "The link ends after 24 hours, or with a later one. Three a day go to an address. Nothing is sent to an address that is confirmed.",
    responses: inProgress(emailConfirmationSchema),
    handle: async ({ user }, { ports }) => accepted(emailResponse(await ports.accounts.requestEmailConfirmation(user.id, user.id))),
  }),
];
