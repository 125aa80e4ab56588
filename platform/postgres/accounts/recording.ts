import type { Kysely } from "kysely";
import type { Accounts } from "../../../api/owners/ports.ts";
import type { AuditEntry } from "../../../api/audit/ports.ts";
import { insertEntry } from "../audit/audit-log.ts";
import { inTransaction } from "../connection.ts";
import type { Tables } from "../tables.ts";

type Recorded = Pick<Accounts, "createKey" | "revokeKey" | "setErrorMails" | "putMember" | "removeMember" | "createOwnOrganization"> &
  Pick<Accounts, "requestEmailConfirmation" | "createInvitation" | "withdrawInvitation" | "acceptInvitation" | "declineInvitation"> &
  Pick<Accounts, "deleteOrganization" | "createUser" | "deleteUser" | "createOrganization" | "savePlan" | "deletePlan" | "choosePlan">;

/** The writes, each of which stores the entry of the audit log in its transaction. @param entryOf gets the id of what was created, if any */
export function recordedWrites(
  db: Kysely<Tables>,
  accountsOf: (db: Kysely<Tables>) => Recorded,
  entryOf: (id?: string) => AuditEntry,
): Recorded {
  const recorded = <Result>(write: (accounts: Recorded) => Promise<Result>, id?: string): Promise<Result> =>
    inTransaction(db, async (transaction) => {
      const result = await write(accountsOf(transaction));
      await insertEntry(transaction, entryOf(id));
      return result;
    });
  return {
    createKey: (user, key, maxKeys) => recorded((to) => to.createKey(user, key, maxKeys), key.id),
    revokeKey: (user, id) => recorded((to) => to.revokeKey(user, id), id),
    setErrorMails: (owner, wanted) => recorded((to) => to.setErrorMails(owner, wanted), owner),
    putMember: (user, organization, role, rule) => recorded((to) => to.putMember(user, organization, role, rule), user),
    removeMember: (user, organization, rule) => recorded((to) => to.removeMember(user, organization, rule), user),
    createInvitation: (made, maxOpen) => recorded((to) => to.createInvitation(made, maxOpen), made.id),
    withdrawInvitation: (organization, id) => recorded((to) => to.withdrawInvitation(organization, id), id),
    acceptInvitation: (user, id, now) => recorded((to) => to.acceptInvitation(user, id, now), user.id),
    declineInvitation: (user, id) => recorded((to) => to.declineInvitation(user, id), id),
    createOwnOrganization: (made, user) => recorded((to) => to.createOwnOrganization(made, user), made.id),
    deleteOrganization: (id, lastMember) => recorded((to) => to.deleteOrganization(id, lastMember), id),
    requestEmailConfirmation: (owner, by) => recorded((to) => to.requestEmailConfirmation(owner, by), owner),
    createUser: (user, isConfirmed) => recorded((to) => to.createUser(user, isConfirmed), user.id),
    deleteUser: (id) => recorded((to) => to.deleteUser(id), id),
    createOrganization: (made, admins, isConfirmed) => recorded((to) => to.createOrganization(made, admins, isConfirmed), made.id),
    savePlan: (plan) => recorded((to) => to.savePlan(plan), plan.name),
    deletePlan: (name) => recorded((to) => to.deletePlan(name), name),
    choosePlan: (owner, plan) => recorded((to) => to.choosePlan(owner, plan), owner),
  };
}
