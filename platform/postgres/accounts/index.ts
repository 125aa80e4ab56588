import type { Accounts as ApiAccounts } from "../../../api/owners/ports.ts";
import type { Kysely } from "kysely";
import { createEmailConfirmations } from "./email-confirmations.ts";
import { createInvitations } from "./invitations.ts";
import { createKeys } from "./keys.ts";
import { recordedWrites } from "./recording.ts";
import type { Tables } from "../tables.ts";
import { createMemberships } from "./memberships.ts";
import { createOrganizations } from "./organizations.ts";
import { createPlans } from "./plans.ts";
import { createUsers } from "./users.ts";
import type { Database } from "../connection.ts";

/** The API's accounts, and the bootstrap of the first user. */
export type Accounts = ApiAccounts & Pick<ReturnType<typeof createUsers>, "seedUser">;

export function createAccounts({ db }: Pick<Database, "db">): Accounts {
  const accountsOf = (on: Kysely<Tables>) => ({
    ...createKeys(on),
    ...createUsers(on),
    ...createOrganizations(on),
    ...createMemberships(on),
    ...createInvitations(on),
    ...createEmailConfirmations(on),
    ...createPlans(on),
  });
  const accounts: Accounts = {
    ...accountsOf(db),
    recording: (entryOf) => ({ ...accounts, ...recordedWrites(db, accountsOf, entryOf) }),
  };
  return accounts;
}
