import pg from "pg";
import { databaseRoles, userOf, type RolePasswords } from "../../platform/postgres/roles.ts";

/** Users belong to the whole server, so all test files share them and their passwords. One password needs escaping in a URL. */
export const rolePasswords: RolePasswords = {
  api: "a password of the api",
  operator: "the operator's own password",
  delivery: "delivery's p@ssword:/'",
  backup: "a password of backups",
};
/** Owns the databases of test files, like the user of `--setup` in an installation. Not a superuser. */
export const setupUser = { name: "headwater_setup", password: "password-of-setup" } as const;

/** Creates those users that the server does not have yet. @param url of a superuser */
export async function createUsers(url: string): Promise<void> {
  const admin = new pg.Client(url);
  await admin.connect();
  try {
    const { rows } = await admin.query<{ name: string }>("select rolname as name from pg_roles");
    const known = new Set(rows.map(({ name }) => name));
    const literal = (text: string): string => admin.escapeLiteral(text);
    if (!known.has(setupUser.name))
      await admin.query(`create role ${setupUser.name} login createrole password ${literal(setupUser.password)}`);
    // The role that creates a user may change it.
    await admin.query(`set role ${setupUser.name}`);
    for (const role of databaseRoles)
      if (!known.has(userOf(role))) await admin.query(`create role ${userOf(role)} login password ${literal(rolePasswords[role])}`);
  } finally {
    await admin.end();
  }
}
