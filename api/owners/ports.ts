import type { PageRequest } from "../../domain/page.ts";

export interface User {
  /** `u_…`. */
  readonly id: string;
  readonly username: string;
  readonly email: string;
}

export interface Organization {
  /** `o_…`. */
  readonly id: string;
  readonly name: string;
  readonly orgname: string;
  readonly email: string;
}

/** What is noted beside an owner. */
export interface OwnerNotes {
  /** Epoch ms. */
  readonly createdAt: number;
  /** Name of a plan. */
  readonly plan: string;
}

/** `read` is for GET and HEAD, `write` for everything else; neither holds the other. */
export const scopes = ["read", "write"] as const;
export type Scope = (typeof scopes)[number];

/** What a key may do, and until when. */
export interface KeyGrant {
  readonly scopes: readonly Scope[];
  /** Epoch ms; null: it does not expire. */
  readonly expiresAt: number | null;
}

/** What is known of a key, which itself is nowhere. */
export interface ApiKey extends KeyGrant {
  /** `pk_…`. */
  readonly id: string;
  /** The first characters, so that people can tell keys apart. */
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

/** A key that is not revoked, and whose it is. */
export interface SignInKey extends KeyGrant {
  readonly id: string;
  readonly user: User;
}

/** Admins say who belongs to an organization; all members see and change what it has. */
export const memberRoles = ["admin", "member"] as const;
export type MemberRole = (typeof memberRoles)[number];

/** What a change of members must leave. */
export interface MemberRule {
  /** Without one, nobody could say any more who belongs to it. */
  readonly keepsAdmin?: boolean;
}

export interface Member extends User {
  readonly role: MemberRole;
}

/** Which form `GET /users/me` has: use against quotas of a day, or use in a billing period. */
export const planForms = ["free", "paid"] as const;

export interface Plan {
  readonly name: string;
  readonly form: (typeof planForms)[number];
  /** Runs a day; null: as many as one likes. */
  readonly dailyInvocations: number | null;
  /** Milliseconds that runs take a day; null: as many as one likes. */
  readonly dailyComputeMs: number | null;
  /** Of runs that wait for a turn, an owner of weight 2 gets twice as many as one of weight 1; 1 to 100. */
  readonly weight: number;
  /** Organizations that one user can create. Each has its own quotas and starts with the plan of its creator. */
  readonly maxOrganizations: number;
}

interface Page<Item> {
  readonly items: readonly Item[];
  /** Of the whole list. */
  readonly total: number;
}

/** Who there is, who belongs to whom, by which keys they come in, and what they may use. */
export interface Accounts {
  /** `hash`: SHA-256 of the API key, lower-case hex. Also a key that has expired, so that its user can be told so. */
  findKey(hash: string): Promise<SignInKey | undefined>;
  /** Those that are not revoked, newest first. */
  listKeys(user: string): Promise<readonly ApiKey[]>;
  /** @throws NotFound for an unknown user; Conflict when the user has `mostKeys` already */
  createKey(user: string, key: NewApiKey, mostKeys: number): Promise<ApiKey>;
  /** From now on nobody is found by it. @throws NotFound when the user has no such key */
  revokeKey(user: string, id: string): Promise<void>;

  findUser(id: string): Promise<(User & OwnerNotes) | undefined>;
  /** By exact username, or by email address, which is compared without case. */
  findUserNamed(name: { readonly username: string } | { readonly email: string }): Promise<User | undefined>;
  /** Newest first. @throws InvalidInput for a cursor that names nobody */
  pageUsers(page: PageRequest): Promise<Page<User & OwnerNotes>>;
  /** @throws Conflict when username or email are taken */
  createUser(user: User): Promise<void>;
  /** With keys and memberships. @throws NotFound */
  deleteUser(id: string): Promise<void>;

  findOrganization(id: string): Promise<(Organization & OwnerNotes) | undefined>;
  /** Newest first. @throws InvalidInput for a cursor that names none */
  pageOrganizations(page: PageRequest): Promise<Page<Organization & OwnerNotes>>;
  /** @throws Conflict when the orgname is taken; NotFound when an admin does not exist */
  createOrganization(organization: Organization, admins: readonly string[]): Promise<void>;
  /** The user becomes its admin, and it gets the user's plan. @throws Conflict `orgname_taken`; `too_many_organizations` by the plan */
  createOwnOrganization(organization: Organization, user: string): Promise<void>;
  /** @param lastMember is not counted as a member @throws NotFound; Conflict while it has members */
  deleteOrganization(id: string, lastMember?: string): Promise<void>;
  /** Of the user, by name. */
  organizationsOf(user: string): Promise<readonly Organization[]>;
  isMember(user: string, organization: string): Promise<boolean>;
  /** By username. */
  listMembers(organization: string): Promise<readonly Member[]>;
  /** Adds the member, or changes the role. @throws NotFound when user or organization do not exist, Conflict by the rule */
  putMember(user: string, organization: string, role: MemberRole, rule?: MemberRule): Promise<void>;
  /** @throws NotFound when there is no such member, Conflict by the rule */
  removeMember(user: string, organization: string, rule?: MemberRule): Promise<void>;

  /** Of a user or an organization; `default` for all who were given no other. */
  planOf(owner: string): Promise<Plan>;
  /** By name. */
  listPlans(): Promise<readonly Plan[]>;
  /** Makes the plan, or changes it for all who have it. */
  savePlan(plan: Plan): Promise<void>;
  /** @throws NotFound; Conflict while somebody has it, and for the plan of all who were given none */
  deletePlan(name: string): Promise<void>;
  /** @throws NotFound for an unknown plan */
  choosePlan(owner: string, plan: string): Promise<void>;
}
