import type { Accounts as ApiAccounts } from "../../api/owners/ports.ts";
import { createKeys } from "./accounts/keys.ts";
import { createOrganizations } from "./accounts/organizations.ts";
import { createPlans } from "./accounts/plans.ts";
import { createUsers } from "./accounts/users.ts";
import type { Database } from "./connection.ts";

/** The API's accounts, and the bootstrap of the first user. */
export type Accounts = ApiAccounts & Pick<ReturnType<typeof createUsers>, "seedUser">;

export function createAccounts({ db }: Pick<Database, "db">): Accounts {
  return { ...createKeys(db), ...createUsers(db), ...createOrganizations(db), ...createPlans(db) };
}
