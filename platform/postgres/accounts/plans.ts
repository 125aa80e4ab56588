import { sql, type Kysely, type RawBuilder, type Selectable } from "kysely";
import type { Accounts, Plan } from "../../../api/owners/ports.ts";
import { Conflict, Invariant, NotFound } from "../../../domain/errors.ts";
import type { PlanTable, Tables } from "../tables.ts";
import { withConstraintErrors } from "./constraints.ts";

type Plans = Pick<Accounts, "planOf" | "listPlans" | "savePlan" | "deletePlan" | "choosePlan">;

/** Plan of owners without another one; created by a migration. */
const defaultPlan = "default";

export const planName = (owner: RawBuilder<unknown>): RawBuilder<string> =>
  sql<string>`coalesce((select plan from owner_plans where owner = ${owner}), ${sql.lit(defaultPlan)})`;

/** Plan of the owner whose id is in the column. */
export const planNameOf = (column: "users.id" | "organizations.id"): RawBuilder<string> => planName(sql.ref(column));

export function createPlans(db: Kysely<Tables>): Plans {
  return {
    async planOf(owner) {
      const row = await db
        .selectFrom("plans")
        .selectAll()
        .where("name", "=", planName(sql`${owner}`))
        .executeTakeFirst();
      if (row === undefined)
        throw new Invariant("the plan 'default' is missing: restore the row that the migrations create in table plans");
      return planFrom(row);
    },
    listPlans: async () => (await db.selectFrom("plans").selectAll().orderBy("name").execute()).map(planFrom),
    async savePlan({ name, form, dailyInvocations, dailyComputeMs, weight, maxOrganizations }) {
      await sql`
        insert into plans (name, form, daily_invocations, daily_compute_ms, weight, max_organizations)
        values (${name}, ${form}, ${dailyInvocations}, ${dailyComputeMs}, ${weight}, ${maxOrganizations})
        on conflict (name) do update
        set form = excluded.form, daily_invocations = excluded.daily_invocations, daily_compute_ms = excluded.daily_compute_ms,
          weight = excluded.weight, max_organizations = excluded.max_organizations`.execute(db);
    },
    async deletePlan(name) {
      const inUse = (why: string) => new Conflict(`the plan '${name}' is in use: ${why}`, { code: "plan_in_use" });
      if (name === defaultPlan) throw inUse("owners without another plan have it");
      const { numDeletedRows } = await withConstraintErrors(db.deleteFrom("plans").where("name", "=", name).executeTakeFirst(), {
        owner_plans_plan_fkey: () => inUse("assign another plan to its owners first"),
      });
      if (numDeletedRows !== 1n) throw new NotFound(`plan '${name}' does not exist`);
    },
    async choosePlan(owner, plan) {
      await withConstraintErrors(
        sql`insert into owner_plans (owner, plan) values (${owner}, ${plan}) on conflict (owner) do update set plan = excluded.plan`.execute(
          db,
        ),
      );
    },
  };
}

const planFrom = ({ name, form, daily_invocations, daily_compute_ms, weight, max_organizations }: Selectable<PlanTable>): Plan => ({
  name,
  form,
  dailyInvocations: daily_invocations,
  dailyComputeMs: daily_compute_ms,
  weight,
  maxOrganizations: max_organizations,
});
