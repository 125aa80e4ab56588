import { readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { encodeAccount, newScopedSigner } from "@nats-io/jwt";
import { afterAll, beforeAll, expect, it } from "vitest";
import { connect } from "../../platform/jetstream/connection/connection.ts";
import { openLink } from "../../platform/jetstream/connection/link.ts";
import { areSetUp } from "../../platform/jetstream/streams/streams.ts";
import { parseConfiguration } from "../../platform/process/settings/configuration.ts";
import { adminCredentials, builderCredentials, systemCredentials } from "../../platform/process/nats/nats-accounts.ts";
import { parseCredentials } from "../../platform/process/nats/nats-connection.ts";
import { storedNatsRoot, natsKeysOf, natsRootFile, type NatsKeys } from "../../platform/process/nats/nats-keys.ts";
import { startNats, type NatsServer } from "../../platform/process/nats/nats-server.ts";
import { createLogger } from "../../platform/telemetry/logger.ts";
import type { RoleContext } from "../../wiring/context.ts";
import { setUp } from "../../wiring/install/install.ts";
import { natsBinary } from "../support/nats/nats.ts";
import { withPostgres } from "../support/postgres.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { until } from "../support/until.ts";

const postgres = withPostgres();
let directory: TemporaryDirectory;
let server: NatsServer;
let keys: NatsKeys;
const keysDirectory = (): string => join(directory.path, "keys");

beforeAll(async () => {
  directory = await temporaryDirectory("set-up");
  keys = natsKeysOf(await storedNatsRoot(natsRootFile(keysDirectory())));
  server = await startNats({ dataDirectory: join(directory.path, "nats"), keys, binary: await natsBinary() });
});
afterAll(async () => {
  await server.stop();
  await directory.remove();
});

/** As in an installation: running servers, and keys in a directory. */
async function contextWith(HEADWATER_KEYS: string): Promise<RoleContext> {
  const nats = { servers: server.url, ...parseCredentials(await adminCredentials(keys)) };
  return {
    configuration: parseConfiguration({ HEADWATER_ROLES: "setup", HEADWATER_KEYS }),
    nats,
    natsOf: () => nats,
    databaseUrl: postgres.setupUrl,
    databaseUrlOf: () => postgres.setupUrl,
    databasePasswords: undefined,
    dataDirectory: directory.path,
    logger: createLogger({ level: "silent" }),
  };
}

/** The rights of the builder in an earlier version. */
async function forgetTheBuildersRights(): Promise<void> {
  const signing_keys = [newScopedSigner(keys.account("BUILDER builder"), "builder", { subs: -1, data: -1, payload: -1 })];
  const account = { limits: { subs: -1, data: -1, payload: -1, conn: -1 }, signing_keys };
  const token = await encodeAccount("BUILDER", keys.account("BUILDER"), account, { signer: keys.operator });
  const system = await openLink({ server: { servers: server.url, ...parseCredentials(await systemCredentials(keys)) }, name: "system" });
  await system.nats.request("$SYS.REQ.CLAIMS.UPDATE", token);
  await system.close();
}

it("creates streams, tables and the first user, and gives a running server the rights of this version", async () => {
  await forgetTheBuildersRights();
  await setUp(await contextWith(keysDirectory()));
  expect(await readFile(join(keysDirectory(), "api-key"), "utf8")).toMatch(/^hw_/);
  const builder = await connect({ server: { servers: server.url, ...parseCredentials(await builderCredentials(keys)) }, name: "builder" });
  await until(() => areSetUp(builder).catch(() => false), "the builder sees the streams");
  await builder.close();
});

it("creates a missing keys directory, and leaves the rights to the process that has the keys' root", async () => {
  const elsewhere = join(directory.path, "a", "b");
  await setUp(await contextWith(elsewhere));
  expect(await readFile(join(elsewhere, "api-key"), "utf8")).toMatch(/^hw_/);
});

it("reports which file it cannot create, and which setting to change", async () => {
  // A broken link: the file does not exist and cannot be created.
  const nowhere = join(directory.path, "nowhere");
  await symlink(join(directory.path, "absent", "keys"), nowhere);
  await expect(setUp(await contextWith(nowhere))).rejects.toThrow(/no API key can be created in .*nowhere.*HEADWATER_KEYS/);
});
