import { sql, type Kysely, type Selectable } from "kysely";
import type { Accounts, Organization, OwnerNotes } from "../../../api/owners/ports.ts";
import { Conflict, NotFound } from "../../../domain/errors.ts";
import type { Tables } from "../tables.ts";
import type { OrganizationTable } from "./owner-tables.ts";
import { withConstraintErrors } from "./constraints.ts";
import { inTransaction } from "../connection.ts";
import { pageIds } from "./page.ts";
import { planName, planNameOf } from "./plans.ts";

type Organizations = Pick<
  Accounts,
  "findOrganization" | "pageOrganizations" | "createOrganization" | "createOwnOrganization" | "deleteOrganization" | "organizationsOf"
>;

export function createOrganizations(db: Kysely<Tables>): Organizations {
  const organizations = () => db.selectFrom("organizations").select(["organizations.id", "name", "orgname", "email", "email_confirmed_at"]);
  const organizationsWithPlan = () => organizations().select(["created_at", planNameOf("organizations.id").as("plan")]);
  return {
    async findOrganization(id) {
      const row = await organizationsWithPlan().where("id", "=", id).executeTakeFirst();
      return row === undefined ? undefined : organizationFrom(row);
    },
    async pageOrganizations(page) {
      const { ids, total } = await pageIds(db, "organizations", page);
      const rows = await organizationsWithPlan()
        .where(sql<boolean>`id = any(${ids}::text[])`)
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .execute();
      return { items: rows.map(organizationFrom), total };
    },
    async createOrganization({ id, name, orgname, email }, admins, isEmailConfirmed = false) {
      const confirmedAt = isEmailConfirmed ? new Date() : null;
      await withConstraintErrors(
        sql`
        with made as (
          insert into organizations (id, name, orgname, email, email_confirmed_at)
          values (${id}, ${name}, ${orgname}, ${email}, ${confirmedAt}::timestamptz) returning id
        )
        insert into memberships (organization_id, user_id, role)
        select made.id, admin, 'admin' from made, unnest(${admins}::text[]) as admin`.execute(db),
      );
    },
    async createOwnOrganization({ id, name, orgname, email }, user) {
      const { rows } = await withConstraintErrors(
        inTransaction(db, async (transaction) => {
          // The lock serializes concurrent requests of one user: each would otherwise miss the organizations of the others.
          await sql`select from users where id = ${user} for no key update`.execute(transaction);
          return sql`
            with made as (
              insert into organizations (id, name, orgname, email, created_by, email_confirmed_at)
              select ${id}, ${name}, ${orgname}, ${email}, ${user},
                (select email_confirmed_at from users where id = ${user} and lower(email) = lower(${email}))
              where (select count(*) from organizations where created_by = ${user})
                < (select max_organizations from plans where name = ${planName(sql`${user}`)})
              returning id
            ),
            member as (insert into memberships (organization_id, user_id, role) select id, ${user}, 'admin' from made),
            plan as (insert into owner_plans (owner, plan) select made.id, plan from made, owner_plans where owner = ${user})
            select from made`.execute(transaction);
        }),
      );
      if (rows.length === 0)
        throw new Conflict("you have created as many organizations as your plan allows: delete one first, or upgrade the plan", {
          code: "too_many_organizations",
        });
    },
    deleteOrganization: (id, lastMember) => deleteOrganization(db, id, lastMember),
    async organizationsOf(user) {
      const ofUser = organizations().innerJoin("memberships", "organization_id", "organizations.id").where("user_id", "=", user);
      const rows = await ofUser.orderBy("name").execute();
      return rows.map(({ email_confirmed_at, ...organization }) => ({ ...organization, isEmailConfirmed: email_confirmed_at !== null }));
    },
  };
}

async function deleteOrganization(db: Kysely<Tables>, id: string, lastMember: string | undefined): Promise<void> {
  const { rows } = await sql<{ readonly members: number; readonly deleted: number }>`
    with members as (
      select user_id from memberships where organization_id = ${id} and user_id is distinct from ${lastMember ?? null}::text
    ),
    deleted as (delete from organizations where id = ${id} and not exists (select from members) returning id),
    plan as (delete from owner_plans where owner in (select id from deleted)),
    confirmation as (delete from email_confirmations where owner in (select id from deleted))
    select (select count(*)::int from members) as members, (select count(*)::int from deleted) as deleted`.execute(db);
  const { members = 0, deleted = 0 } = rows[0] ?? {};
  if (members > 0)
    throw new Conflict(`${id} has ${members} ${members === 1 ? "member" : "members"}: remove them first`, {
      code: "organization_has_members",
      details: { members },
    });
  if (deleted === 0) throw new NotFound(`organization ${id} does not exist`);
}

function organizationFrom(
  row: Organization & Pick<Selectable<OrganizationTable>, "created_at" | "email_confirmed_at"> & { readonly plan: string },
): Organization & OwnerNotes {
  const { id, name, orgname, email, email_confirmed_at, created_at, plan } = row;
  return { id, name, orgname, email, createdAt: created_at.getTime(), plan, isEmailConfirmed: email_confirmed_at !== null };
}
