import { sql, type Kysely, type Selectable } from "kysely";
import type { Accounts, OwnerNotes } from "../../../api/owners/ports.ts";
import type { User } from "../../../api/http/ports.ts";
import { NotFound } from "../../../domain/errors.ts";
import type { Tables } from "../tables.ts";
import type { UserTable } from "./owner-tables.ts";
import { withConstraintErrors } from "./constraints.ts";
import { pageIds } from "./page.ts";
import { planNameOf } from "./plans.ts";

/** A key whose text is stored elsewhere; it has all scopes and does not expire. */
export interface SeedKey {
  /** SHA-256 of the key, lower-case hex. */
  readonly hash: string;
  readonly prefix: string;
  readonly name: string;
}

type Users = Pick<Accounts, "findUser" | "pageUsers" | "createUser" | "setErrorMails" | "deleteUser"> & {
  /**
   * Creates the user or updates its name and email, and adds the key if missing. Idempotent. The operator of the installation, whose server
   * sends the mails, has set the address: it needs no confirmation.
   */
  seedUser(user: User, key: SeedKey): Promise<void>;
};

export function createUsers(db: Kysely<Tables>): Users {
  const users = () =>
    db.selectFrom("users").select(["id", "username", "email", "email_confirmed_at", "created_at", planNameOf("users.id").as("plan")]);
  return {
    async findUser(id) {
      const row = await users().where("id", "=", id).executeTakeFirst();
      return row === undefined ? undefined : userFrom(row);
    },
    async pageUsers(page) {
      const { ids, total } = await pageIds(db, "users", page);
      const rows = await users()
        .where(sql<boolean>`id = any(${ids}::text[])`)
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .execute();
      return { items: rows.map(userFrom), total };
    },
    async createUser({ id, username, email }, isEmailConfirmed = false) {
      const email_confirmed_at = isEmailConfirmed ? new Date() : null;
      await withConstraintErrors(db.insertInto("users").values({ id, username, email, email_confirmed_at }).execute());
    },
    async setErrorMails(owner, wanted) {
      const { rows } = await sql`
        with changed as (update organizations set error_mails = ${wanted} where id = ${owner} returning id),
        changed_user as (update users set error_mails = ${wanted} where id = ${owner} returning id)
        select id from changed union all select id from changed_user`.execute(db);
      if (rows.length === 0) throw new NotFound(`${owner} does not exist`);
    },
    async deleteUser(id) {
      const { numAffectedRows } = await sql`
        with plan as (delete from owner_plans where owner = ${id}),
        confirmation as (delete from email_confirmations where owner = ${id})
        delete from users where id = ${id}`.execute(db);
      if (numAffectedRows !== 1n) throw new NotFound(`user ${id} does not exist`);
    },
    async seedUser({ id, username, email }, key) {
      await withConstraintErrors(
        sql`
        with seeded as (
          insert into users (id, username, email, email_confirmed_at) values (${id}, ${username}, ${email}, now())
          on conflict (id) do update set username = excluded.username, email = excluded.email,
            email_confirmed_at = case when users.email = excluded.email then coalesce(users.email_confirmed_at, now()) else now() end
          returning id
        )
        insert into api_keys (key_hash, user_id, prefix, name) select ${key.hash}, id, ${key.prefix}, ${key.name} from seeded
        on conflict do nothing`.execute(db),
      );
    },
  };
}

function userFrom(
  row: User & Pick<Selectable<UserTable>, "created_at" | "email_confirmed_at"> & { readonly plan: string },
): User & OwnerNotes {
  const { id, username, email, email_confirmed_at, created_at, plan } = row;
  return { id, username, email, createdAt: created_at.getTime(), plan, isEmailConfirmed: email_confirmed_at !== null };
}
