import { expect, it } from "vitest";
import { createAccounts } from "../../../platform/postgres/accounts/index.ts";
import { createSessions } from "../../../platform/postgres/accounts/sessions.ts";
import { openSnapshot, restoreTables } from "../../../platform/postgres/backup.ts";
import { createDatabase } from "../../../platform/postgres/connection.ts";
import { migrate } from "../../../platform/postgres/migrations/migrations.ts";
import { withPostgres } from "../../support/postgres.ts";

const [former, next] = [withPostgres(), withPostgres()];
const optionsOf = (url: string) => ({ url, tls: undefined, throughPooler: false });

it("a restore brings back users and keys, and neither sessions nor sign-in links", async () => {
  await using opened = new AsyncDisposableStack();
  const open = (url: string) => {
    const database = createDatabase({ url });
    opened.defer(() => database.close());
    return { accounts: createAccounts(database), sessions: createSessions(database.db), db: database.db };
  };
  const before = open(former.setupUrl);
  await migrate(before.db);
  const now = Date.now();
  await before.accounts.createUser({ id: "u_1", username: "one", email: "one@example.com" });
  await before.accounts.createKey("u_1", { id: "pk_1", prefix: "hw_1", name: "one", hash: "aa", scopes: ["read"], expiresAt: null }, 50);
  const session = { keyHash: "aa", expiresAt: now + 60_000 };
  await before.sessions.startSession({ hash: "bb", ...session }, now);
  await before.sessions.startSession({ hash: "cc", ...session, isLink: true }, now);

  const snapshot = await openSnapshot(optionsOf(former.setupUrl));
  opened.defer(() => snapshot.close());
  expect(await restoreTables(optionsOf(next.setupUrl), snapshot, "a-backup", (table) => snapshot.rows(table))).toBe(true);

  const after = open(next.setupUrl);
  expect(await after.accounts.findUser("u_1")).toMatchObject({ username: "one" });
  expect((await after.accounts.listKeys("u_1")).map(({ id }) => id)).toEqual(["pk_1"]);
  expect(await before.sessions.findSession("bb", now)).toBe("aa");
  expect([await after.sessions.findSession("bb", now), await after.sessions.useLink("cc", now)]).toEqual([undefined, undefined]);
});
