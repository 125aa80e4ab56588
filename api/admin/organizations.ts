import { NotFound } from "../../domain/errors.ts";
import { isId, newId } from "../../domain/ids.ts";
import { pages, parsePage } from "../http/request/parameters.ts";
import { noContent, ok, okPage } from "../http/response/replies.ts";
import { all, nothing, one, page } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import { checkUserId, getMember, memberFields } from "../organizations/members.ts";
import { deleteOrganization, organizationFields } from "../organizations/organizations.ts";
import { removeMember } from "../organizations/remove-member.ts";
import { planResponse } from "../owners/plans.ts";
import type { Member, Organization, OwnerNotes } from "../owners/ports.ts";
import type { ApiPorts } from "../ports.ts";
import { epochSeconds } from "../resources/identity.ts";
import { adminOperation } from "./context.ts";
import { endingBy, endResources } from "./end-owner.ts";
import { administeredMemberSchema, administeredOrganizationSchema, endingSchema, planSchema } from "./schemas.ts";
import { chosenPlan, endingResponse } from "./users.ts";

export const adminOrganizationOperations = [
  adminOperation({
    route: "GET /orgs",
    id: "listOrganizations",
    summary: "List all organizations",
    query: pages,
    responses: page(administeredOrganizationSchema),
    handle: async ({ parameters }, { ports }) =>
      okPage(await ports.accounts.pageOrganizations(parsePage(parameters)), organizationResponse),
  }),
  adminOperation({
    route: "POST /orgs",
    id: "createOrganization",
    change: { action: "create", kind: "Organization" },
    summary: "Create an organization",
    body: organizationFields,
    responses: one(administeredOrganizationSchema),
    errors: [409],
    handle: async (call, { ports }) => {
      const { name, orgname, email, email_confirmed, admins } = call.body();
      const id = newId("organization", ports.randomBytes);
      await ports.accounts.createOrganization({ id, name, orgname, email }, [...new Set(admins)], email_confirmed ?? false);
      return ok(organizationResponse(await getOrganization(id, ports)));
    },
  }),
  adminOperation({
    route: "GET /orgs/:id",
    id: "getOrganization",
    summary: "Get an organization",
    responses: one(administeredOrganizationSchema),
    handle: async (call, { ports }) => ok(organizationResponse(await getOrganization(pathOf(call, "id"), ports))),
  }),
  adminOperation({
    route: "DELETE /orgs/:id",
    id: "deleteOrganization",
    change: { action: "delete", kind: "Organization" },
    summary: "Delete an organization that owns nothing and has no members",
    responses: nothing,
    errors: [409],
    handle: async (call, { ports }) => {
      const { id } = await getOrganization(pathOf(call, "id"), ports);
      await deleteOrganization(id, ports);
      return noContent;
    },
  }),
  adminOperation({
    route: "DELETE /orgs/:id/resources",
    id: "endOrganization",
    summary: "Delete all that an organization has",
    description:
      "Deletes the organization's resources as a member would. Most deletions go on in the background: repeat the request until `ended` is true. The audit log names each resource.",
    responses: one(endingSchema),
    handle: async (call, { ports }) => {
      const { id } = await getOrganization(pathOf(call, "id"), ports);
      return ok(endingResponse(id, await endResources(id, endingBy("adminEndOrganization", call.address, ports))));
    },
  }),
  adminOperation({
    route: "GET /orgs/:id/members",
    id: "listMembers",
    summary: "List the members of an organization",
    responses: all(administeredMemberSchema),
    handle: async (call, { ports }) => {
      const { id } = await getOrganization(pathOf(call, "id"), ports);
      return ok((await ports.accounts.listMembers(id)).map(memberResponse));
    },
  }),
  adminOperation({
    route: "PUT /orgs/:id/members/:user_id",
    id: "putMember",
    change: { action: "update", kind: "Member" },
    summary: "Add a member, or change their role",
    body: memberFields,
    responses: one(administeredMemberSchema),
    handle: async (call, { ports }) => {
      const { role } = call.body();
      const { id } = await getOrganization(pathOf(call, "id"), ports);
      const user = checkUserId(pathOf(call, "user_id"));
      await ports.accounts.putMember(user, id, role);
      return ok(memberResponse(await getMember(id, user, ports.accounts)));
    },
  }),
  adminOperation({
    route: "DELETE /orgs/:id/members/:user_id",
    id: "removeMember",
    change: { action: "delete", kind: "Member" },
    summary: "Remove a member",
    responses: nothing,
    handle: async (call, { ports }) => {
      const user = checkUserId(pathOf(call, "user_id"));
      const { id } = await getOrganization(pathOf(call, "id"), ports);
      await removeMember({ user, organization: id }, ports);
      return noContent;
    },
  }),
  adminOperation({
    route: "PUT /orgs/:id/plan",
    id: "chooseOrganizationPlan",
    change: { action: "choose_plan", kind: "Organization" },
    summary: "Choose the plan of an organization",
    body: chosenPlan,
    responses: one(planSchema),
    handle: async (call, { ports: { accounts } }) => {
      const { id } = await getOrganization(pathOf(call, "id"), { accounts });
      await accounts.choosePlan(id, call.body().plan);
      return ok(planResponse(await accounts.planOf(id)));
    },
  }),
];

const memberResponse = ({ id, username, email, role }: Member) => ({ user_id: id, username, email, role });

function organizationResponse({ id, name, orgname, email, isEmailConfirmed, createdAt, plan }: Organization & OwnerNotes) {
  return { id, name, orgname, email, email_confirmed: isEmailConfirmed, plan, created_at: epochSeconds(createdAt) };
}

/** @throws NotFound */
export async function getOrganization(id: string, { accounts }: Pick<ApiPorts, "accounts">): Promise<Organization & OwnerNotes> {
  const organization = isId("organization", id) ? await accounts.findOrganization(id) : undefined;
  if (organization === undefined) throw new NotFound(`organization '${id.slice(0, 80)}' is not found`);
  return organization;
}
