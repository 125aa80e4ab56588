import { mkdir, readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { streams } from "../../domain/subjects.ts";
import { accountRoles, describeAccountRights } from "../../platform/jetstream/connection/account-rights.ts";
import { connect } from "../../platform/jetstream/connection/connection.ts";
import { givenNats } from "../../platform/process/nats/given-nats.ts";
import { parseConfiguration } from "../../platform/process/settings/configuration.ts";
import { createLogger } from "../../platform/telemetry/logger.ts";
import { restoreBackup } from "../../wiring/backup/restore.ts";
import { saveBackup } from "../../wiring/backup/save.ts";
import type { RoleContext } from "../../wiring/context.ts";
import { setUp } from "../../wiring/install/install.ts";
import { startForeignNats, startLeafNode, type ForeignNats, type NatsPermissions } from "../support/nats/foreign-nats.ts";
import { rolePasswords } from "../support/postgres-users.ts";
import { withPostgres, type TestPostgres } from "../support/postgres.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";

/** An installation with a user of NATS for each role, in an account with streams of other applications, is saved and restored. */
interface Place {
  readonly nats: ForeignNats;
  readonly postgres: TestPostgres;
  /** Directory with `<role>.creds`. */
  readonly credentials: string;
}

const databases = { former: withPostgres(), next: withPostgres() };
const rightsWith = (names: Parameters<typeof describeAccountRights>[0]): Readonly<Record<string, NatsPermissions>> =>
  JSON.parse(describeAccountRights(names)) as Readonly<Record<string, NatsPermissions>>; // As written.
let directory: TemporaryDirectory;
let places: Readonly<Record<keyof typeof databases, Place>>;
let backup: string;

/** Creates a user for each role. @returns the directory with their credentials */
async function createUsers(nats: ForeignNats, name: string, prefix?: string): Promise<string> {
  const credentials = join(directory.path, `${name}-credentials`);
  await mkdir(credentials);
  const own = rightsWith({ prefix });
  for (const role of accountRoles) await writeFile(join(credentials, `${role}.creds`), (await nats.user(role, own[role])).creds);
  return credentials;
}

async function startPlace(name: keyof typeof databases): Promise<Place> {
  const nats = await startForeignNats({ directory: join(directory.path, name), domain: "hub" });
  return { nats, postgres: databases[name], credentials: await createUsers(nats, name) };
}

interface Access {
  readonly nats: { readonly url: string };
  readonly credentials: string;
  readonly domain?: string;
  readonly prefix?: string;
}

async function contextOf(
  { nats, credentials, domain, prefix }: Access,
  task: "setup" | "backup",
  databaseUrl: string,
): Promise<RoleContext> {
  const configuration = parseConfiguration({
    HEADWATER_ROLES: task,
    HEADWATER_KEYS: join(directory.path, "keys"),
    HEADWATER_NATS_ACCOUNT: "perRole",
    HEADWATER_NATS_CREDENTIALS: credentials,
    HEADWATER_NATS_DOMAIN: domain ?? "",
    HEADWATER_NATS_PREFIX: prefix ?? "",
    HEADWATER_STORE_SIZE: "1Gi",
    NATS_URL: nats.url,
  });
  return {
    ...(await givenNats(configuration)),
    configuration,
    databaseUrl,
    databaseUrlOf: () => databaseUrl,
    // Users belong to the whole server of Postgres, so only one of its databases has them.
    databasePasswords: databaseUrl === databases.former.setupUrl ? rolePasswords : undefined,
    dataDirectory: directory.path,
    logger: createLogger({ level: "silent" }),
  };
}

async function withAllRights<Result>(
  { nats }: Place,
  run: (connection: Awaited<ReturnType<typeof connect>>) => Promise<Result>,
): Promise<Result> {
  const connection = await connect({ server: { servers: nats.url, credentials: (await nats.user("all")).creds }, name: "test" });
  try {
    return await run(connection);
  } finally {
    await connection.close();
  }
}

const addOtherStream = (place: Place) =>
  withAllRights(place, ({ manager }) => manager.streams.add({ name: "ORDERS", subjects: ["orders.>"], storage: "file" }));
const setUpAt = async (place: Place): Promise<void> => setUp(await contextOf(place, "setup", place.postgres.setupUrl));
const restore = async (place: Place): Promise<string> =>
  restoreBackup(await contextOf(place, "backup", place.postgres.setupUrl), join(directory.path, "backups", backup));

beforeAll(async () => {
  directory = await temporaryDirectory("backup-account");
  places = { former: await startPlace("former"), next: await startPlace("next") };
  for (const place of Object.values(places)) await addOtherStream(place);
  await setUpAt(places.former);
  await withAllRights(places.former, async ({ publisher }) => {
    await publisher.publish("runs.0.u_1.dc_1", "a commit");
    await publisher.publish("invoke.default.0.dc_1", "an invocation");
    await publisher.publish("$KV.DEPLOYMENTS.default.dc_1", "{}");
  });
});
afterAll(async () => {
  await Promise.all(Object.values(places).map(({ nats }) => nats.stop()));
  await directory.remove();
});

describe("a backup in an account that others use too", () => {
  it("is saved by the user of backups and by a user of Postgres that only reads, without the streams of others", async () => {
    const parent = join(directory.path, "backups");
    const context = await contextOf(places.former, "backup", places.former.postgres.urlOf("backup"));
    await saveBackup(context, { parent, keep: undefined });
    [backup = ""] = await readdir(parent);
    const files = await readdir(join(parent, backup));
    expect(files).toContain("stream-RUNS");
    expect(files).not.toContain("stream-ORDERS");
  });

  it("is saved through a leaf node", async () => {
    const { nats, postgres } = places.former;
    const leaf = await startLeafNode({ directory: join(directory.path, "leaf"), hub: nats, users: rightsWith({ domain: "hub" }) });
    const credentials = join(directory.path, "leaf-credentials");
    await writeFile(credentials, "backup:backup");
    const context = await contextOf({ nats: leaf, credentials, domain: "hub" }, "backup", postgres.urlOf("backup"));
    const parent = join(directory.path, "leaf-backups");
    try {
      await saveBackup(context, { parent, keep: undefined });
      expect((await leaf.log()).split("\n").filter((line) => line.includes("Violation"))).toEqual([]);
    } finally {
      await leaf.stop();
    }
    expect(await readdir(join(parent, (await readdir(parent))[0] ?? ""))).toContain("stream-RUNS");
  });

  it("is saved with a prefix", async () => {
    const { nats, postgres } = places.former;
    const access = { nats, credentials: await createUsers(nats, "prefixed", "team"), prefix: "team" };
    await setUp(await contextOf(access, "setup", postgres.setupUrl));
    const parent = join(directory.path, "prefixed-backups");
    await saveBackup(await contextOf(access, "backup", postgres.urlOf("backup")), { parent, keep: undefined });
    expect(await readdir(join(parent, (await readdir(parent))[0] ?? ""))).toContain("stream-RUNS");
  });

  it("is restored by the user of backups, beside the streams of others", async () => {
    expect(await restore(places.next)).toContain("Restored is the backup");
    await setUpAt(places.next);
    await withAllRights(places.next, async ({ manager }) => {
      expect((await manager.streams.info(streams.runs)).state.messages).toBe(1);
      expect((await manager.streams.info(streams.invocations)).state.messages).toBe(1);
    });
    expect(await restore(places.next)).toContain("already: nothing to do");
  });

  it("is known as restored after it was removed, and another one is not", async () => {
    await rename(join(directory.path, "backups", backup), join(directory.path, "removed"));
    expect(await restore(places.next)).toContain(`This is the backup ${backup} already, which no longer exists: nothing to do.`);
    await expect(restore(places.former)).rejects.toMatchObject({ code: "no_backup" });
  });

  it("needs no other right than those of its user", async () => {
    for (const { nats } of Object.values(places))
      expect((await nats.log()).split("\n").filter((line) => line.includes("Violation"))).toEqual([]);
  });

  it("names the right that its user lacks", async () => {
    const { publish, subscribe } = rightsWith({})["backup"] ?? { publish: { allow: [] }, subscribe: { allow: [] } };
    const allow = publish.allow.filter((subject) => subject !== "$JS.API.STREAM.SNAPSHOT.RUNS");
    await writeFile(
      join(places.former.credentials, "backup.creds"),
      (await places.former.nats.user("poor", { publish: { allow }, subscribe })).creds,
    );
    const context = await contextOf(places.former, "backup", places.former.postgres.urlOf("backup"));
    await expect(saveBackup(context, { parent: join(directory.path, "refused"), keep: undefined })).rejects.toThrow(
      /of the role backup lacks the right to publish on \$JS\.API\.STREAM\.SNAPSHOT\.RUNS: --nats-rights/,
    );
  });
});
