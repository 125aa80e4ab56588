import { sql, type Kysely } from "kysely";
import type { Tables } from "./tables.ts";

/** Privileges of each role, by table. */
export type Rights = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** A row for this version's rights, and one for those of the version that was set up before it. */
export const grantsTable = "headwater_rights";

/**
 * Grants each user this version's rights, and keeps those of the version that was set up before. While pods of two versions run, in an upgrade
 * or a rollback, neither may lose a right that it uses. The setup of the next version revokes what only an earlier one needed. An installation
 * without a record keeps all its rights.
 */
export async function replaceRights(db: Kysely<Tables>, rights: Rights, userOf: (role: string) => string): Promise<void> {
  const { previous, isRecorded } = await recordRights(db, rights);
  for (const role of Object.keys(rights)) {
    const user = userOf(role);
    const statements = [
      ...(isRecorded ? [`revoke all on all tables in schema public from ${user}`] : []),
      `grant usage on schema public to ${user}`,
      ...grants(rights[role], user),
      ...grants(previous?.[role], user).map(ifItExists),
    ];
    for (const statement of statements) await sql.raw(statement).execute(db);
  }
}

const grants = (byTable: Rights[string] = {}, user: string): readonly string[] =>
  Object.entries(byTable).map(([table, privileges]) => `grant ${privileges} on ${table} to ${user}`);

/** The other version may have had a table or column that does not exist any more. */
const ifItExists = (statement: string): string =>
  `do $$ begin ${statement}; exception when undefined_table or undefined_column then null; end $$`;

interface Recorded {
  readonly previous: Rights | undefined;
  /** False: what earlier versions have granted is unknown. */
  readonly isRecorded: boolean;
}

async function recordRights(db: Kysely<Tables>, rights: Rights): Promise<Recorded> {
  const record = sql.table(grantsTable);
  const own = sql`${JSON.stringify(rights)}::jsonb`;
  await sql`create table if not exists ${record} (n bigint generated always as identity primary key, rights jsonb not null)`.execute(db);
  const { rows } = await sql<{ rights: Rights; isOwn: boolean }>`
    select rights, rights = ${own} as "isOwn" from ${record} order by n desc`.execute(db);
  if (rows[0]?.isOwn !== true) {
    await sql`delete from ${record} where rights = ${own}`.execute(db);
    await sql`insert into ${record} (rights) values (${own})`.execute(db);
    await sql`delete from ${record} where n not in (select n from ${record} order by n desc limit 2)`.execute(db);
  }
  return { previous: rows.find(({ isOwn }) => !isOwn)?.rights, isRecorded: rows.length > 0 };
}
