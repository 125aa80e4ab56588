import { readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { streams } from "../../domain/subjects.ts";
import { connect } from "../../platform/jetstream/connection/connection.ts";
import { givenNats } from "../../platform/process/nats/given-nats.ts";
import { parseConfiguration } from "../../platform/process/settings/configuration.ts";
import { databaseRoles, urlOfRole } from "../../platform/postgres/roles.ts";
import { createLogger } from "../../platform/telemetry/logger.ts";
import { restoreBackup } from "../../wiring/backup/restore.ts";
import { saveBackup } from "../../wiring/backup/save.ts";
import type { RoleContext } from "../../wiring/context.ts";
import { setUp } from "../../wiring/install/install.ts";
import { startForeignNats, startLeafNode, type ForeignNats } from "../support/nats/foreign-nats.ts";
import { rolePasswords } from "../support/postgres-users.ts";
import { withPostgres, type TestPostgres } from "../support/postgres.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";

/** An installation in an account of NATS with streams of other applications is saved and restored. */
interface Place {
  readonly nats: ForeignNats;
  readonly postgres: TestPostgres;
  /** File with those of a user. */
  readonly credentials: string;
}

const databases = { former: withPostgres(), next: withPostgres() };
/** Other test files set up users at the same time. */
const passwords = { ...rolePasswords, prefix: `t${process.pid}_k_` };
let directory: TemporaryDirectory;
let places: Readonly<Record<keyof typeof databases, Place>>;
let backup: string;

async function startPlace(name: keyof typeof databases): Promise<Place> {
  const nats = await startForeignNats({ directory: join(directory.path, name), domain: "hub" });
  const credentials = join(directory.path, `${name}.creds`);
  await writeFile(credentials, (await nats.user("headwater")).creds);
  return { nats, postgres: databases[name], credentials };
}

interface Access {
  readonly nats: { readonly url: string };
  readonly credentials: string;
  readonly domain?: string;
}

async function contextOf({ nats, credentials, domain }: Access, task: "setup" | "backup", databaseUrl: string): Promise<RoleContext> {
  const configuration = parseConfiguration({
    HEADWATER_ROLES: task,
    HEADWATER_KEYS: join(directory.path, "keys"),
    HEADWATER_NATS_ACCOUNT: "shared",
    HEADWATER_NATS_CREDENTIALS: credentials,
    HEADWATER_NATS_DOMAIN: domain ?? "",
    HEADWATER_STORE_SIZE: "1Gi",
    NATS_URL: nats.url,
  });
  return {
    ...(await givenNats(configuration)),
    configuration,
    databaseUrl,
    databaseUrlOf: () => databaseUrl,
    // Users belong to the whole server of Postgres, so only one of its databases has them.
    databasePasswords: databaseUrl === databases.former.setupUrl ? passwords : undefined,
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
  for (const role of databaseRoles)
    await databases.former.client.query(`drop owned by ${passwords.prefix}${role}; drop role ${passwords.prefix}${role}`);
  await directory.remove();
});

describe("a backup in an account that others use too", () => {
  it("is saved by a user of Postgres that only reads, without the streams of others", async () => {
    const parent = join(directory.path, "backups");
    const context = await contextOf(places.former, "backup", urlOfRole(places.former.postgres.url, "backup", passwords));
    await saveBackup(context, { parent, keep: undefined });
    [backup = ""] = await readdir(parent);
    const files = await readdir(join(parent, backup));
    expect(files).toContain("stream-RUNS");
    expect(files).not.toContain("stream-ORDERS");
  });

  it("is saved through a leaf node", async () => {
    const { nats, postgres } = places.former;
    const leaf = await startLeafNode({ directory: join(directory.path, "leaf"), hub: nats, user: "backup" });
    const credentials = join(directory.path, "leaf-credentials");
    await writeFile(credentials, "backup:backup");
    const context = await contextOf({ nats: leaf, credentials, domain: "hub" }, "backup", urlOfRole(postgres.url, "backup", passwords));
    const parent = join(directory.path, "leaf-backups");
    try {
      await saveBackup(context, { parent, keep: undefined });
    } finally {
      await leaf.stop();
    }
    expect(await readdir(join(parent, (await readdir(parent))[0] ?? ""))).toContain("stream-RUNS");
  });

  it("is restored beside the streams of others", async () => {
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
});
