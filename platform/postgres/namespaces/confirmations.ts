import { sql } from "kysely";
import { Conflict, NotFound } from "../../../domain/errors.ts";
import { inTransaction, type Database } from "../connection.ts";

export interface ConfirmedNamespace {
  readonly owner: string;
  readonly namespace: string;
}

export interface Confirmations {
  /** True until `adopt` was called once: namespaces in use before there were confirmations stay in use. */
  readonly isPending: boolean;
  has(namespace: ConfirmedNamespace): boolean;
}

/** An owner has one namespace; further ones are confirmed in advance or kept from before. */
const maxPerOwner = 20;
const adoptAfterMs = 600_000;
const pending = { owner: "*", namespace: "*" } as const;
const keyOf = ({ owner, namespace }: ConfirmedNamespace): string => `${namespace} ${owner}`;

/** Which namespaces owners have confirmed as theirs. The label of a namespace alone gives it nothing of an owner. */
export function createConfirmations({ db }: Pick<Database, "db">) {
  return {
    async read(): Promise<Confirmations> {
      const { rows } = await sql<ConfirmedNamespace>`select owner, namespace from owner_namespaces`.execute(db);
      const keys = new Set(rows.map(keyOf));
      const isPending = keys.has(keyOf(pending));
      return { isPending, has: (namespace) => isPending || keys.has(keyOf(namespace)) };
    },
    /** Names of namespaces with the time of their confirmation, epoch ms. */
    async list(owner: string): Promise<ReadonlyMap<string, number>> {
      const { rows } = await sql<{ namespace: string; confirmed_ms: string | number }>`
        select namespace, confirmed_ms from owner_namespaces where owner = ${owner} order by namespace`.execute(db);
      return new Map(rows.map(({ namespace, confirmed_ms }) => [namespace, Number(confirmed_ms)]));
    },
    /** Safe to repeat. @throws Conflict when the owner has confirmed too many */
    async confirm({ owner, namespace }: ConfirmedNamespace, now: number): Promise<void> {
      await sql`
        insert into owner_namespaces (owner, namespace, confirmed_ms) select ${owner}, ${namespace}, ${now}
        where (select count(*) from owner_namespaces where owner = ${owner} and namespace <> ${namespace}) < ${maxPerOwner}
        on conflict do nothing`.execute(db);
      if (!(await this.list(owner)).has(namespace))
        throw new Conflict(`${owner} has confirmed ${maxPerOwner} namespaces, the maximum: withdraw one first`);
    },
    /** @throws NotFound */
    async withdraw({ owner, namespace }: ConfirmedNamespace): Promise<void> {
      const deleted = sql`delete from owner_namespaces where owner = ${owner} and namespace = ${namespace}`;
      if ((await deleted.execute(db)).numAffectedRows !== 1n) throw new NotFound(`${owner} has not confirmed namespace '${namespace}'`);
    },
    /**
     * Confirms the namespaces in use, once for a database, a while after the table was created: processes of the previous version may create
     * namespaces for owners until they have been replaced.
     */
    async adopt(inUse: readonly ConfirmedNamespace[], now: number): Promise<void> {
      await inTransaction(db, async (transaction) => {
        const deleted = sql`delete from owner_namespaces where owner = ${pending.owner} and namespace = ${pending.namespace}
          and confirmed_ms <= ${now - adoptAfterMs}`;
        if ((await deleted.execute(transaction)).numAffectedRows !== 1n) return;
        for (const { owner, namespace } of inUse)
          await sql`
            insert into owner_namespaces (owner, namespace, confirmed_ms) values (${owner}, ${namespace}, ${now})
            on conflict do nothing`.execute(transaction);
      });
    },
  };
}

export type ConfirmationStore = ReturnType<typeof createConfirmations>;
