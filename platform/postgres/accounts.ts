import { sql } from "kysely";
import type { Organization, User } from "../../api/ports.ts";
import { Conflict, NotFound } from "../../domain/errors.ts";
import type { Database } from "./connection.ts";

export interface NewApiKey {
  /** SHA-256 of the key, lower-case hex. The key itself is shown to its user once and kept nowhere. */
  readonly hash: string;
  /** The first characters of the key, so that people can tell keys apart. */
  readonly prefix: string;
  readonly name: string;
}

/** Dates as epoch ms. */
export interface ApiKey extends NewApiKey {
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

export interface Accounts {
  /** The owner of a key that is not revoked; notes once a minute that the key is in use. */
  findUserByKeyHash(hash: string): Promise<User | undefined>;
  findUser(id: string): Promise<User | undefined>;
  /** Makes the user, or brings name and address up to date, and adds the key unless it is there. Repeating is fine. */
  seedUser(user: User, key: NewApiKey): Promise<void>;
  /** @throws Conflict when id, username or email are taken */
  createUser(user: User): Promise<void>;
  /** @throws Conflict when id or orgname are taken */
  createOrganization(organization: Organization, members: readonly string[]): Promise<void>;
  findOrganization(id: string): Promise<Organization | undefined>;
  /** By name. */
  organizationsOf(user: string): Promise<readonly Organization[]>;
  isMember(user: string, organization: string): Promise<boolean>;
  /** @throws NotFound when either does not exist */
  addMember(user: string, organization: string): Promise<void>;
  removeMember(user: string, organization: string): Promise<void>;
  /** @throws NotFound for an unknown user */
  createKey(user: string, key: NewApiKey): Promise<void>;
  /** Those in force, newest first. */
  listKeys(user: string): Promise<readonly ApiKey[]>;
  /** From now on nobody is found by it. @throws NotFound when the user has no such key in force */
  revokeKey(user: string, hash: string): Promise<void>;
}

const usedEvery = "1 minute";

export function createAccounts({ db }: Pick<Database, "db">): Accounts {
  const users = () => db.selectFrom("users").select(["id", "username", "email"]);
  const organizations = () => db.selectFrom("organizations").select(["organizations.id", "name", "orgname", "email"]);
  return {
    async findUserByKeyHash(hash) {
      const { rows } = await sql<User & { stale: boolean }>`
        select users.id, username, email, coalesce(last_used_at < now() - ${usedEvery}::interval, true) as stale
        from api_keys join users on users.id = user_id where key_hash = ${hash} and revoked_at is null`.execute(db);
      const row = rows[0];
      if (row === undefined) return undefined;
      if (row.stale) await sql`update api_keys set last_used_at = now() where key_hash = ${hash}`.execute(db);
      return { id: row.id, username: row.username, email: row.email };
    },
    findUser: (id) => users().where("id", "=", id).executeTakeFirst(),
    async seedUser({ id, username, email }, key) {
      await told(
        sql`
        with seeded as (
          insert into users (id, username, email) values (${id}, ${username}, ${email})
          on conflict (id) do update set username = excluded.username, email = excluded.email
          returning id
        )
        insert into api_keys (key_hash, user_id, prefix, name) select ${key.hash}, id, ${key.prefix}, ${key.name} from seeded
        on conflict do nothing`.execute(db),
      );
    },
    async createUser({ id, username, email }) {
      await told(db.insertInto("users").values({ id, username, email }).execute());
    },
    async createOrganization({ id, name, orgname, email }, members) {
      await told(
        sql`
        with made as (insert into organizations (id, name, orgname, email) values (${id}, ${name}, ${orgname}, ${email}) returning id)
        insert into memberships (organization_id, user_id) select made.id, member from made, unnest(${members}::text[]) as member`.execute(
          db,
        ),
      );
    },
    findOrganization: (id) => organizations().where("id", "=", id).executeTakeFirst(),
    organizationsOf: (user) =>
      organizations().innerJoin("memberships", "organization_id", "organizations.id").where("user_id", "=", user).orderBy("name").execute(),
    async isMember(user, organization) {
      const found = await db
        .selectFrom("memberships")
        .select("user_id")
        .where("user_id", "=", user)
        .where("organization_id", "=", organization)
        .executeTakeFirst();
      return found !== undefined;
    },
    async addMember(user, organization) {
      await told(
        sql`insert into memberships (organization_id, user_id) values (${organization}, ${user}) on conflict do nothing`.execute(db),
      );
    },
    async removeMember(user, organization) {
      await db.deleteFrom("memberships").where("user_id", "=", user).where("organization_id", "=", organization).execute();
    },
    async createKey(user, { hash, prefix, name }) {
      await told(db.insertInto("api_keys").values({ key_hash: hash, user_id: user, prefix, name }).execute());
    },
    async listKeys(user) {
      const rows = await db
        .selectFrom("api_keys")
        .selectAll()
        .where("user_id", "=", user)
        .where("revoked_at", "is", null)
        .orderBy("created_at", "desc")
        .execute();
      return rows.map((row) => ({
        hash: row.key_hash,
        prefix: row.prefix,
        name: row.name,
        createdAt: row.created_at.getTime(),
        lastUsedAt: row.last_used_at?.getTime() ?? null,
      }));
    },
    async revokeKey(user, hash) {
      const { numAffectedRows } =
        await sql`update api_keys set revoked_at = now() where key_hash = ${hash} and user_id = ${user} and revoked_at is null`.execute(db);
      if (numAffectedRows !== 1n) throw new NotFound("the API key does not exist or is revoked already");
    },
  };
}

/** Names of constraints, as Postgres made them from the table and column, and what they mean to a person. */
const constraints: Readonly<Record<string, () => Error>> = {
  users_pkey: () => new Conflict("a user with this id exists already"),
  users_username_key: () => new Conflict("the username is taken"),
  users_email_key: () => new Conflict("the email address is taken"),
  organizations_pkey: () => new Conflict("an organization with this id exists already"),
  organizations_orgname_key: () => new Conflict("the orgname is taken"),
  api_keys_pkey: () => new Conflict("this API key exists already"),
  memberships_user_id_fkey: () => new NotFound("the user does not exist"),
  memberships_organization_id_fkey: () => new NotFound("the organization does not exist"),
  api_keys_user_id_fkey: () => new NotFound("the user does not exist"),
};

async function told(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    const constraint = error instanceof Error && "constraint" in error && typeof error.constraint === "string" ? error.constraint : "";
    throw constraints[constraint]?.() ?? error;
  }
}
