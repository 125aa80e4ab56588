import type { Accounts as ApiAccounts } from "../../../api/owners/ports.ts";
import { createKeys } from "./keys.ts";
import { createMemberships } from "./memberships.ts";
import { createOrganizations } from "./organizations.ts";
import { createPlans } from "./plans.ts";
import { createUsers } from "./users.ts";
import type { Database } from "../connection.ts";

/** The API's accounts, and the bootstrap of the first user. */
export type Accounts = ApiAccounts & Pick<ReturnType<typeof createUsers>, "seedUser">;

export function createAccounts({ db }: Pick<Database, "db">): Accounts {
  return { ...createKeys(db), ...createUsers(db), ...createOrganizations(db), ...createMemberships(db), ...createPlans(db) };
}
