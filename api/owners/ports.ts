import type { PageRequest } from "../../domain/page.ts";
import type { AuditEntry } from "../audit/ports.ts";
import type { KeyGrant, Keys, User } from "../http/ports.ts";

export interface Organization {
  /** `o_…`. */
  readonly id: string;
  readonly name: string;
  readonly orgname: string;
  readonly email: string;
}

/** Metadata of an owner. */
export interface OwnerNotes {
  /** Epoch ms. */
  readonly createdAt: number;
  /** Name of a plan. */
  readonly plan: string;
  /** Whether its holder has agreed to get mails at this address. */
  readonly isEmailConfirmed: boolean;
}

export interface OwnerEmail extends Pick<OwnerNotes, "isEmailConfirmed"> {
  readonly email: string;
}

/** Confirmations of addresses: before, only the mail with the link goes there. */
export interface EmailConfirmations {
  /**
   * Has a link mailed to the owner's address, unless that is confirmed.
   * @param by the user who requests it
   * @throws QuotaUsedUp `too_many_confirmations`; NotFound
   */
  requestEmailConfirmation(owner: string, by: string): Promise<OwnerEmail>;
  /**
   * Confirms the address to which the link was mailed.
   * @param tokenHash SHA-256 of the link's token, lower-case hex
   * @returns the address; undefined for a link that is unknown, used or expired, or if the owner has another address by now
   */
  confirmEmail(tokenHash: string): Promise<string | undefined>;
}

/** An API key without the key itself, which is not stored. */
export interface ApiKey extends KeyGrant {
  /** `pk_…`. */
  readonly id: string;
  /** The first characters, to distinguish keys. */
  readonly prefix: string;
  readonly name: string;
  /** Epoch ms. */
  readonly createdAt: number;
  /** Epoch ms, to a minute; null: never. */
  readonly lastUsedAt: number | null;
}

export interface NewApiKey extends KeyGrant {
  readonly id: string;
  readonly prefix: string;
  readonly name: string;
  /** SHA-256 of the key, lower-case hex. */
  readonly hash: string;
}

/** Admins manage members; all members see and change the organization's resources. */
export const memberRoles = ["admin", "member"] as const;
export type MemberRole = (typeof memberRoles)[number];

/** Condition on a change of members. */
export interface MemberRule {
  /** Requires that an admin remains, because only admins manage members. */
  readonly keepsAdmin?: boolean;
  /** Requires that the user is a member already: only admins of the installation add users without their consent. */
  readonly isMember?: boolean;
}

/** How an invitation names a user. The name may belong to no user: the inviting admin must not learn whether it does. */
export const inviteeFields = ["user_id", "username", "email"] as const;
export interface Invitee {
  readonly field: (typeof inviteeFields)[number];
  readonly name: string;
}

/** An offer of membership, which becomes effective when the named user accepts it. */
export interface Invitation {
  /** `inv_…`. */
  readonly id: string;
  readonly organization: Pick<Organization, "id" | "name">;
  readonly invitee: Invitee;
  readonly role: MemberRole;
  /** Epoch ms. */
  readonly createdAt: number;
  /** Epoch ms. */
  readonly expiresAt: number;
}

export interface NewInvitation extends Pick<Invitation, "id" | "invitee" | "role" | "createdAt" | "expiresAt"> {
  readonly organization: string;
}

/** Open invitations. `now`: epoch ms; expired ones count nowhere. */
export interface Invitations {
  /** Replaces an earlier invitation of the same name. @throws Conflict `too_many_invitations` when as many others are open */
  createInvitation(invitation: NewInvitation, maxOpen: number): Promise<Invitation>;
  /** Of an organization, newest first. */
  listInvitations(organization: string, now: number): Promise<readonly Invitation[]>;
  /**
   * To a user who is not a member of the organization yet, newest first, at most `limit`. Those that name the address only if it is confirmed:
   * it may belong to another person.
   */
  invitationsTo(user: User, now: number, limit: number): Promise<readonly Invitation[]>;
  /** Undefined when it is not one to the user. */
  findInvitation(user: User, id: string, now: number): Promise<Invitation | undefined>;
  /** @throws NotFound when the organization has no such invitation */
  withdrawInvitation(organization: string, id: string): Promise<void>;
  /** Adds the member and ends all invitations of the organization to the user. @throws NotFound when it is not one to the user */
  acceptInvitation(user: User, id: string, now: number): Promise<void>;
  /** @throws NotFound when it is not one to the user */
  declineInvitation(user: User, id: string): Promise<void>;
}

export interface Member extends User {
  readonly role: MemberRole;
}

/** Form of `GET /users/me`: usage against daily quotas, or in a billing period. */
export const planForms = ["free", "paid"] as const;

export interface Plan {
  readonly name: string;
  readonly form: (typeof planForms)[number];
  /** Maximum runs a day; null: unlimited. */
  readonly dailyInvocations: number | null;
  /** Maximum milliseconds of runs a day; null: unlimited. */
  readonly dailyComputeMs: number | null;
  /** Share of queued runs, 1 to 100: an owner of weight 2 gets twice as many as one of weight 1. */
  readonly weight: number;
  /** Maximum organizations that one user can create. Each has its own quotas and starts with the plan of its creator. */
  readonly maxOrganizations: number;
}

interface Page<Item> {
  readonly items: readonly Item[];
  /** Size of the whole list. */
  readonly total: number;
}

/** Users, organizations, members, API keys and plans. */
export interface Accounts extends Invitations, EmailConfirmations, Keys {
  /** Keys that are not revoked, newest first. */
  listKeys(user: string): Promise<readonly ApiKey[]>;
  /** @throws NotFound for an unknown user; Conflict when the user already has `maxKeys` */
  createKey(user: string, key: NewApiKey, maxKeys: number): Promise<ApiKey>;
  /** Invalidates the key at once. @throws NotFound when the user has no such key */
  revokeKey(user: string, id: string): Promise<void>;

  findUser(id: string): Promise<(User & OwnerNotes) | undefined>;
  /** Newest first. @throws InvalidInput for an unknown cursor */
  pageUsers(page: PageRequest): Promise<Page<User & OwnerNotes>>;
  /** @throws Conflict when the username or the email address is in use */
  createUser(user: User, isEmailConfirmed?: boolean): Promise<void>;
  /** Whether a user or an organization gets mails about errors. @throws NotFound */
  setErrorMails(owner: string, wanted: boolean): Promise<void>;
  /** Also deletes keys and memberships. @throws NotFound */
  deleteUser(id: string): Promise<void>;

  findOrganization(id: string): Promise<(Organization & OwnerNotes) | undefined>;
  /** Newest first. @throws InvalidInput for an unknown cursor */
  pageOrganizations(page: PageRequest): Promise<Page<Organization & OwnerNotes>>;
  /** @throws Conflict when the orgname is in use; NotFound when an admin does not exist */
  createOrganization(organization: Organization, admins: readonly string[], isEmailConfirmed?: boolean): Promise<void>;
  /**
   * The user becomes its admin, and it gets the user's plan. Its address is confirmed if it is the user's, which is.
   * @throws Conflict `orgname_taken`; `too_many_organizations` by the plan
   */
  createOwnOrganization(organization: Organization, user: string): Promise<void>;
  /** @param lastMember is not counted as a member @throws NotFound; Conflict while it has members */
  deleteOrganization(id: string, lastMember?: string): Promise<void>;
  /** Organizations of the user, sorted by name. */
  organizationsOf(user: string): Promise<readonly (Organization & OwnerEmail)[]>;
  isMember(user: string, organization: string): Promise<boolean>;
  /** Sorted by username. */
  listMembers(organization: string): Promise<readonly Member[]>;
  /** Adds the member, or changes the role. @throws NotFound when user or organization do not exist, Conflict by the rule */
  putMember(user: string, organization: string, role: MemberRole, rule?: MemberRule): Promise<void>;
  /** @throws NotFound when there is no such member, Conflict by the rule */
  removeMember(user: string, organization: string, rule?: MemberRule): Promise<void>;

  /** The plan of a user or an organization; `default` if none was chosen. */
  planOf(owner: string): Promise<Plan>;
  /** Sorted by name. */
  listPlans(): Promise<readonly Plan[]>;
  /** Creates the plan, or changes it for all its owners. */
  savePlan(plan: Plan): Promise<void>;
  /** @throws NotFound; Conflict while an owner has it, and for the default plan */
  deletePlan(name: string): Promise<void>;
  /** @throws NotFound for an unknown plan */
  choosePlan(owner: string, plan: string): Promise<void>;

  /** The same accounts, whose writes store the entry in their transaction. @param entryOf gets the id of what is written */
  recording(entryOf: (id?: string) => AuditEntry): Accounts;
}
