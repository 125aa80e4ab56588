import { Conflict, NotFound } from "../../../domain/errors.ts";

type ConstraintErrors = Readonly<Record<string, () => Error>>;

/** Names of constraints, as Postgres derives them from table and column, and the errors they stand for. */
const constraints: ConstraintErrors = {
  users_pkey: () => new Conflict("a user with this id exists already"),
  users_username_key: () => new Conflict("the username is taken"),
  users_email_key: () => new Conflict("the email address is taken"),
  organizations_pkey: () => new Conflict("an organization with this id exists already"),
  organizations_orgname_key: () => new Conflict("the orgname is taken", { code: "orgname_taken" }),
  organizations_created_by_fkey: () => new NotFound("the user does not exist"),
  api_keys_pkey: () => new Conflict("this API key exists already"),
  memberships_user_id_fkey: () => new NotFound("the user does not exist"),
  memberships_organization_id_fkey: () => new NotFound("the organization does not exist"),
  api_keys_user_id_fkey: () => new NotFound("the user does not exist"),
  owner_plans_plan_fkey: () => new NotFound("the plan does not exist"),
};

/** Maps violated constraints to errors. @param overrides meanings that differ for this write @throws Conflict, NotFound */
export async function withConstraintErrors<Result>(write: Promise<Result>, overrides: ConstraintErrors = {}): Promise<Result> {
  try {
    return await write;
  } catch (error) {
    const constraint = error instanceof Error && "constraint" in error && typeof error.constraint === "string" ? error.constraint : "";
    throw overrides[constraint]?.() ?? constraints[constraint]?.() ?? error;
  }
}
