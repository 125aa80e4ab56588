import { z } from "zod";
import { Conflict } from "../../domain/errors.ts";
import { newId, type RandomBytes } from "../../domain/ids.ts";
import { nameSlug } from "../../domain/name-slug.ts";
import { text } from "../http/request/parameters.ts";
import type { ApiPorts } from "../ports.ts";
import { clearOwned, kindsOwnedBy } from "../owners/owned.ts";
import { emailConfirmedField, emailField, nameField } from "../owners/names.ts";
import type { Organization } from "../owners/ports.ts";
import type { User } from "../http/ports.ts";

const name = text.min(1, "it must not be empty").max(255, "it must have at most 255 characters");
const optional = (field: z.ZodType<string>) => z.union([z.literal(""), field]).nullish();

/** Fields of `POST /v1/orgs`. The admin API requires all of them, see {@link organizationFields}. */
export const ownOrganizationFields = z.object({
  name: name.describe("Display name."),
  orgname: optional(nameField).describe("Unique: letters, digits, dots, dashes and underscores; by default derived from the name."),
  email: optional(emailField).describe("Contact address; by default the caller's."),
});

export const organizationFields = z.object({
  name: name.describe("Display name."),
  orgname: nameField.describe("Unique: letters, digits, dots, dashes and underscores."),
  email: emailField.describe("Contact address."),
  email_confirmed: emailConfirmedField,
  admins: z.array(text).max(100, "it must name at most 100 users").default([]).describe("Ids of the users who manage its members."),
});

/** Code of the conflict that the accounts port throws for an orgname in use. */
const orgnameTaken = "orgname_taken";

type Ports = Pick<ApiPorts, "accounts" | "owners" | "store" | "randomBytes">;

/**
 * Creates an organization with the user as its admin. The orgname defaults to the slug of the name, plus random characters if that is
 * in use. The email address defaults to the user's.
 * @throws Conflict when the given orgname is in use, or when the plan allows the user no further organization
 */
export async function createOwnOrganization(
  { name: given, orgname, email }: z.output<typeof ownOrganizationFields>,
  user: User,
  { accounts, randomBytes }: Pick<Ports, "accounts" | "randomBytes">,
): Promise<Organization> {
  const chosen = orgname === "" ? undefined : (orgname ?? undefined);
  const made = (called: string): Organization => ({
    id: newId("organization", randomBytes),
    name: given,
    orgname: called,
    email: email === "" || email === null || email === undefined ? user.email : email,
  });
  for (const called of chosen === undefined ? orgnamesFor(given, randomBytes) : [chosen]) {
    const organization = made(called);
    try {
      await accounts.createOwnOrganization(organization, user.id);
      return organization;
    } catch (error) {
      if (chosen !== undefined || !(error instanceof Conflict) || error.code !== orgnameTaken) throw error;
    }
  }
  throw new Conflict(`no orgname like '${nameSlug(given)}' is free: choose another orgname`, { code: orgnameTaken });
}

/** Candidates: the slug, then the slug with random suffixes. */
function orgnamesFor(organizationName: string, randomBytes: RandomBytes): readonly string[] {
  const slug = nameSlug(organizationName).slice(0, 56);
  return [slug, ...Array.from({ length: 4 }, () => `${slug}-${newId("organization", randomBytes).slice(-6)}`)];
}

/** @param lastMember may still be a member @throws Conflict while the organization owns resources or has other members; NotFound */
export async function deleteOrganization(
  id: string,
  ports: Pick<Ports, "accounts" | "owners" | "store">,
  lastMember?: string,
): Promise<void> {
  const owned = await kindsOwnedBy(id, ports);
  if (owned.length > 0)
    throw new Conflict(`${id} owns resources (${owned.join(", ")}): delete them first`, {
      code: "organization_owns_resources",
      details: { kinds: owned },
    });
  await ports.accounts.deleteOrganization(id, lastMember);
  await clearOwned(id, ports);
}
