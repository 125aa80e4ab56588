import { z } from "zod";
import { Conflict, InvalidInput, NotFound } from "../../domain/errors.ts";
import { isId, newId } from "../../domain/ids.ts";
import { text } from "../http/request/parameters.ts";
import type { Answered } from "../http/response/answered.ts";
import { inviteeFields, memberRoles, type Invitation, type Invitee } from "../owners/ports.ts";
import type { ApiPorts } from "../ports.ts";
import { epochSeconds } from "../resources/identity.ts";
import { seconds } from "../resources/schemas.ts";
import { role } from "./members.ts";

/** Bounds what one organization stores, and what its admins send to users. */
const maxOpen = 100;
const validForMs = 14 * 86_400_000;

const name = text.max(255, "it must have at most 255 characters").nullish();

export const invitationFields = z.object({
  user_id: name.describe("Id of the user, `u_…`."),
  username: name.describe("Exact username."),
  email: name.describe("Email address of the user's account."),
  role: role.nullish().describe("`admin` or `member` (default); admins manage members."),
});

export const invitationSchema = z
  .object({
    id: z.string().describe("`inv_…`."),
    org_id: z.string().describe("`o_…`."),
    org_name: z.string(),
    user_id: z.string().nullable().describe("The user as invited: one of `user_id`, `username` and `email`; the others are null."),
    username: z.string().nullable(),
    email: z.string().nullable(),
    role: z.enum(memberRoles),
    created_at: seconds,
    expires_at: seconds,
  })
  .meta({ id: "Invitation", description: "An offer of membership in an organization, which the user accepts or declines." });

export function invitationResponse({
  id,
  organization,
  invitee: { field, name: invited },
  role: offered,
  createdAt,
  expiresAt,
}: Invitation): Answered<typeof invitationSchema> {
  const named = (each: Invitee["field"]): string | null => (each === field ? invited : null);
  return {
    id,
    org_id: organization.id,
    org_name: organization.name,
    user_id: named("user_id"),
    username: named("username"),
    email: named("email"),
    role: offered,
    created_at: epochSeconds(createdAt),
    expires_at: epochSeconds(expiresAt),
  };
}

/**
 * Invites whom the fields name. The result is the same whether such a user exists or not, so that admins learn nothing about users.
 * @throws InvalidInput unless exactly one field names the user; Conflict for a member, and beyond the limit of open invitations
 */
export async function invite(
  organization: string,
  fields: z.output<typeof invitationFields>,
  { accounts, clock, randomBytes }: Pick<ApiPorts, "accounts" | "clock" | "randomBytes">,
): Promise<Invitation> {
  const invitee = inviteeOf(fields);
  // Members are listed with id and username, so admins learn nothing new. Their addresses are not.
  const member = (await accounts.listMembers(organization)).find(
    ({ id, username }) => invitee.field !== "email" && invitee.name === (invitee.field === "user_id" ? id : username),
  );
  if (member !== undefined)
    throw new Conflict(`${member.id} is a member of ${organization} already: change the role with PUT /orgs/{org_id}/members/{user_id}`, {
      code: "already_a_member",
    });
  const createdAt = clock.now();
  const made = { id: newId("invitation", randomBytes), organization, invitee, role: fields.role ?? "member" } as const;
  return accounts.createInvitation({ ...made, createdAt, expiresAt: createdAt + validForMs }, maxOpen);
}

function inviteeOf(fields: z.output<typeof invitationFields>): Invitee {
  const given = inviteeFields.flatMap((field): Invitee[] => {
    const invited = fields[field];
    return typeof invited === "string" && invited !== "" ? [{ field, name: invited }] : [];
  });
  const [invitee] = given;
  if (invitee === undefined || given.length !== 1)
    throw new InvalidInput("name the new member by exactly one of user_id, username and email");
  return invitee;
}

/** @throws NotFound when it cannot be the id of an invitation */
export function checkInvitationId(id: string): string {
  if (!isId("invitation", id)) throw new NotFound(`there is no open invitation '${id.slice(0, 80)}': ids of invitations look like inv_…`);
  return id;
}
