import { operation } from "../context.ts";
import { noContent, ok } from "../http/response/replies.ts";
import { all, nothing, one } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import { administeredOrganization } from "./administered.ts";
import { checkInvitationId, invitationFields, invitationResponse, invitationSchema, invite } from "./invitations.ts";
import { NotFound } from "../../domain/errors.ts";

/** More invitations than a person reads. Others follow when these are declined. */
const maxListed = 100;

/** Users become members by their own consent: an admin invites, the user accepts. */
export const invitationOperations = [
  operation({
    route: "POST /orgs/:org_id/members",
    id: "inviteMember",
    change: { action: "create", kind: "Invitation" },
    summary: "Invite a user by id, username or email address",
    description:
      "Requires that the caller is an admin of the organization. Name the user by exactly one of the three. The answer does not depend on whether there is such a user, who becomes a member by accepting the invitation within 14 days.",
    body: invitationFields,
    responses: one(invitationSchema),
    errors: [409],
    handle: async (call, context) => {
      const organization = await administeredOrganization(call, context);
      return ok(invitationResponse(await invite(organization, call.body(), context.ports)));
    },
  }),
  operation({
    route: "GET /orgs/:org_id/invitations",
    id: "listInvitations",
    summary: "List the open invitations of an organization",
    description: "Requires that the caller is an admin of the organization.",
    responses: all(invitationSchema),
    handle: async (call, context) => {
      const { accounts, clock } = context.ports;
      const organization = await administeredOrganization(call, context);
      return ok((await accounts.listInvitations(organization, clock.now())).map(invitationResponse));
    },
  }),
  operation({
    route: "DELETE /orgs/:org_id/invitations/:invitation_id",
    id: "withdrawInvitation",
    change: { action: "delete", kind: "Invitation" },
    summary: "Withdraw an invitation",
    description: "Requires that the caller is an admin of the organization.",
    responses: nothing,
    handle: async (call, context) => {
      const organization = await administeredOrganization(call, context);
      await context.ports.accounts.withdrawInvitation(organization, checkInvitationId(pathOf(call, "invitation_id")));
      return noContent;
    },
  }),
  operation({
    route: "GET /users/me/invitations",
    id: "listMyInvitations",
    summary: "List the invitations to the caller",
    responses: all(invitationSchema),
    handle: async ({ user }, { ports: { accounts, clock } }) =>
      ok((await accounts.invitationsTo(user, clock.now(), maxListed)).map(invitationResponse)),
  }),
  operation({
    route: "POST /users/me/invitations/:id/accept",
    id: "acceptInvitation",
    change: { action: "create", kind: "Member" },
    summary: "Accept an invitation, and become a member",
    responses: one(invitationSchema),
    handle: async (call, { access, ports: { accounts, clock } }) => {
      const id = checkInvitationId(pathOf(call, "id"));
      const found = await accounts.findInvitation(call.user, id, clock.now());
      if (found === undefined) throw new NotFound(`there is no open invitation '${id}'`);
      access.note(found.organization.id);
      await accounts.acceptInvitation(call.user, id, clock.now());
      return ok(invitationResponse(found));
    },
  }),
  operation({
    route: "DELETE /users/me/invitations/:id",
    id: "declineInvitation",
    change: { action: "delete", kind: "Invitation" },
    summary: "Decline an invitation",
    responses: nothing,
    handle: async (call, { ports }) => {
      await ports.accounts.declineInvitation(call.user, checkInvitationId(pathOf(call, "id")));
      return noContent;
    },
  }),
];
