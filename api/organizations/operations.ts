import { NotFound } from "../../domain/errors.ts";
import { operation } from "../context.ts";
import { accepted, noContent, ok } from "../http/response/replies.ts";
import { all, inProgress, nothing, one } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import { quotaExceededUntil, quotaField } from "../owners/quota.ts";
import { emailResponse, organizationFields } from "../owners/response.ts";
import { emailConfirmationSchema, organizationSchema, ownerSettingsSchema } from "../owners/schemas.ts";
import { administeredOrganization, organizationOf } from "./administered.ts";
import { invitationOperations } from "./invitation-operations.ts";
import { checkUserId, getMember, memberFields, memberResponse, memberSchema } from "./members.ts";
import { createOwnOrganization, deleteOrganization, ownOrganizationFields } from "./organizations.ts";
import { removeMember } from "./remove-member.ts";

/** Organizations of the caller, in the form of `orgs` in `GET /users/me`. Access is checked before the body is parsed. */
export const organizationOperations = [
  operation({
    route: "POST /orgs",
    id: "createOrganization",
    change: { action: "create", kind: "Organization" },
    summary: "Create an organization",
    description:
      "The caller becomes its admin. The plan limits how many organizations a user can create. A new organization gets the same plan.",
    body: ownOrganizationFields,
    responses: one(organizationSchema),
    errors: [409],
    handle: async (call, { ports }) => {
      const { id } = await createOwnOrganization(call.body(), call.user, ports);
      const made = await ports.accounts.findOrganization(id);
      if (made === undefined) throw new NotFound(`organization ${id} was deleted in the meantime`);
      return ok(organizationFields(made));
    },
  }),
  operation({
    route: "GET /orgs/:org_id",
    id: "getOrganization",
    summary: "Get an organization of the caller",
    responses: one(organizationSchema),
    handle: async (call, context) => {
      const { ports } = context;
      const found = await ports.accounts.findOrganization(await organizationOf(call, context));
      if (found === undefined) throw new NotFound();
      const until = await quotaExceededUntil(found.id, await ports.accounts.planOf(found.id), ports);
      return ok({ ...organizationFields(found), ...quotaField(until) });
    },
  }),
  operation({
    route: "PUT /orgs/:org_id",
    id: "updateOrganization",
    change: { action: "update", kind: "Organization" },
    summary: "Choose whether the organization gets mails about errors",
    description: "Requires that the caller is an admin of the organization.",
    body: ownerSettingsSchema,
    responses: one(ownerSettingsSchema),
    handle: async (call, context) => {
      const organization = await administeredOrganization(call, context);
      const { error_mails } = call.body();
      await context.ports.accounts.setErrorMails(organization, error_mails);
      return ok({ error_mails });
    },
  }),
  operation({
    route: "POST /orgs/:org_id/email_confirmation",
    id: "confirmOrganizationEmail",
    change: { action: "update", kind: "Organization" },
    summary: "Have a link mailed that confirms the organization's address",
    description: "Requires that the caller is an admin of the organization. As `POST /users/me/email_confirmation`.",
    responses: inProgress(emailConfirmationSchema),
    handle: async (call, context) => {
      const organization = await administeredOrganization(call, context);
      return accepted(emailResponse(await context.ports.accounts.requestEmailConfirmation(organization, call.user.id)));
    },
  }),
  operation({
    route: "DELETE /orgs/:org_id",
    id: "deleteOrganization",
    change: { action: "delete", kind: "Organization" },
    summary: "Delete an organization that owns nothing and has no other member",
    description: "Requires that the caller is an admin of the organization.",
    responses: nothing,
    errors: [409],
    handle: async (call, context) => {
      await deleteOrganization(await administeredOrganization(call, context), context.ports, call.user.id);
      return noContent;
    },
  }),
  operation({
    route: "GET /orgs/:org_id/members",
    id: "listMembers",
    summary: "List the members of an organization",
    responses: all(memberSchema),
    handle: async (call, context) =>
      ok((await context.ports.accounts.listMembers(await organizationOf(call, context))).map(memberResponse)),
  }),
  ...invitationOperations,
  operation({
    route: "PUT /orgs/:org_id/members/:user_id",
    id: "putMember",
    change: { action: "update", kind: "Member" },
    summary: "Change the role of a member",
    description: "Requires that the caller is an admin of the organization.",
    body: memberFields,
    responses: one(memberSchema),
    errors: [409],
    handle: async (call, context) => {
      const { accounts } = context.ports;
      const organization = await administeredOrganization(call, context);
      const user = checkUserId(pathOf(call, "user_id"));
      const { role } = call.body();
      await accounts.putMember(user, organization, role, { keepsAdmin: true, isMember: true });
      return ok(memberResponse(await getMember(organization, user, accounts)));
    },
  }),
  operation({
    route: "DELETE /orgs/:org_id/members/:user_id",
    id: "removeMember",
    change: { action: "delete", kind: "Member" },
    summary: "Remove a member, or leave an organization",
    description: "Requires that the caller is an admin of the organization, or the member.",
    responses: nothing,
    errors: [409],
    handle: async (call, context) => {
      const user = checkUserId(pathOf(call, "user_id"));
      const organization = user === call.user.id ? await organizationOf(call, context) : await administeredOrganization(call, context);
      await removeMember({ user, organization, rule: { keepsAdmin: true } }, context.ports);
      return noContent;
    },
  }),
];
