import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { streams } from "../../../domain/subjects.ts";
import { accountInbox, accountRights, describeAccountRights } from "../../../platform/jetstream/connection/account-rights.ts";
import { connect, type Connection } from "../../../platform/jetstream/connection/connection.ts";
import { requireRights } from "../../../platform/jetstream/connection/required-rights.ts";
import { wireNames } from "../../../platform/jetstream/connection/wire-names.ts";
import { requireAccountRoom } from "../../../platform/jetstream/streams/account-limits.ts";
import { setUpStreams } from "../../../platform/jetstream/streams/streams.ts";
import { startForeignNats, type ForeignNats, type NatsPermissions } from "../../support/nats/foreign-nats.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.ts";
import { until } from "./support.ts";

const streamOptions = { replicas: 1, partitions: 16, pool: "default", storeBytes: 2 ** 30 };

let directory: TemporaryDirectory;
let nats: ForeignNats;
const opened: Connection[] = [];

beforeAll(async () => {
  directory = await temporaryDirectory("account");
  nats = await startForeignNats({ directory: join(directory.path, "hub") });
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((connection) => connection.close()));
});
afterAll(async () => {
  await nats.stop();
  await directory.remove();
});

async function open(server: Omit<Parameters<typeof connect>[0]["server"], "servers">, of = nats): Promise<Connection> {
  const connection = await connect({ server: { servers: of.url, ...server }, name: "test" });
  opened.push(connection);
  return connection;
}

async function openAll(prefix?: string, of = nats): Promise<Connection> {
  const { creds: credentials } = await of.user("all");
  return open({ credentials, ...(prefix === undefined ? {} : { prefix }) }, of);
}

const printedRights = (prefix?: string): Readonly<Record<string, NatsPermissions>> =>
  JSON.parse(describeAccountRights({ prefix })) as Readonly<Record<string, NatsPermissions>>; // As written.

const listStreams = async (connection: Connection): Promise<readonly string[]> => {
  const names: string[] = [];
  for await (const { config } of connection.manager.streams.list()) names.push(config.name);
  return names.toSorted();
};

describe("two installations in one account", () => {
  it("have streams, entries and requests of their own", async () => {
    const [one, other] = await Promise.all([openAll("one"), openAll("other")]);
    await setUpStreams(one, streamOptions);
    expect(await listStreams(other)).toEqual([]);
    await setUpStreams(other, streamOptions);
    expect(await listStreams(one)).toEqual(await listStreams(other));
    const wire = await listStreams(await openAll());
    expect(wire).toHaveLength(2 * (await listStreams(one)).length);
    expect(wire.every((name) => /^(KV_|OBJ_)?(one|other)_/.test(name))).toBe(true);

    const heard: string[] = [];
    for (const subject of ["invoke.>", "build.>", "$KV.ROUTES.>"])
      other.nats.subscribe(subject, { callback: (_error, message) => void heard.push(message.subject) });
    await other.nats.flush();
    await one.publisher.publish("invoke.default.3.s_1", "first");
    await one.publisher.publish("$KV.ROUTES.a", "entry");
    await expect(one.nats.request("build.request", "", { timeout: 2_000 })).rejects.toThrow(/no responders/i);
    expect((await one.manager.streams.info(streams.invocations)).state.messages).toBe(1);
    expect((await other.manager.streams.info(streams.invocations)).state.messages).toBe(0);
    expect(await other.manager.direct.getMessage("KV_ROUTES", { last_by_subj: "$KV.ROUTES.a" })).toBeNull();
    await other.nats.flush();
    expect(heard).toEqual([]);
  });

  it("with users for each role cannot reach each other's streams", async () => {
    await setUpStreams(await openAll("one"), streamOptions);
    await setUpStreams(await openAll("other"), streamOptions);
    const { creds: credentials } = await nats.user("operator", printedRights("other")["operator"]);
    const names = { prefix: "one", inboxPrefix: accountInbox("operator", "other") };
    const operator = await open({ credentials, ...names });
    await expect(operator.manager.streams.info(streams.runs)).rejects.toThrow(/permissions violation/i);
  });
});

describe("rights of a user for a role", () => {
  it("are complete as printed, with a prefix and without", async () => {
    for (const prefix of [undefined, "team"])
      for (const [role, permissions] of Object.entries(printedRights(prefix))) {
        const { creds: credentials } = await nats.user(role, permissions);
        const of = role as "api"; // A name of the printed roles.
        const connection = await open({ credentials, inboxPrefix: accountInbox(of, prefix), ...(prefix === undefined ? {} : { prefix }) });
        await expect(requireRights(connection.client, accountRights(of, connection.names, prefix), role)).resolves.toBeUndefined();
      }
  });

  it("name what is missing", async () => {
    const { publish, subscribe } = printedRights()["ingress"] ?? { publish: { allow: [] }, subscribe: { allow: [] } };
    const fewer = { publish: { allow: publish.allow.filter((subject) => subject !== "invoke.>") }, subscribe };
    const { creds: credentials } = await nats.user("web", fewer);
    const connection = await open({ credentials, inboxPrefix: accountInbox("ingress", undefined) });
    const rights = accountRights("ingress", wireNames("$JS.API", undefined), undefined);
    await expect(requireRights(connection.client, rights, "the role ingress")).rejects.toThrow(
      /^the NATS user \w+ of the role ingress lacks the right to publish on invoke\.>: --nats-rights prints what each role needs$/,
    );
  });
});

describe("an account that is too small", () => {
  it.each([
    [
      { disk_storage: 100_000_000 },
      /its storage limit leaves 100000000 bytes, and the streams need 1073741824 with 1 replica: raise the limit, or lower HEADWATER_STORE_SIZE/,
    ],
    [{ streams: 5 }, /its limit of streams leaves 5, and Headwater needs 16$/],
    [{ max_bytes_required: true }, /it requires max_bytes of every stream/],
  ])("is refused with its limit: %o", async (limits, message) => {
    const small = await startForeignNats({ directory: join(directory.path, `small-${Object.keys(limits)[0]}`), limits });
    try {
      const connection = await openAll(undefined, small);
      await expect(requireAccountRoom(connection, { replicas: 1, storeBytes: 2 ** 30 })).rejects.toThrow(message);
    } finally {
      await Promise.all(opened.splice(0).map((connection) => connection.close()));
      await small.stop();
    }
  });

  it("is accepted with enough room", async () => {
    const connection = await openAll("roomy");
    await expect(requireAccountRoom(connection, { replicas: 1, storeBytes: 2 ** 30 })).resolves.toBeUndefined();
  });
});

describe("credentials that are revoked", () => {
  it("are named, and replaced ones are used without a restart", async () => {
    const file = join(directory.path, "rotated.creds");
    const [first, second] = [await nats.user("first"), await nats.user("second")];
    await writeFile(file, first.creds);
    const connection = await open({ credentials: first.creds, credentialsFile: file });
    await nats.revoke(first);
    await until(() => connection.refusal() !== undefined, "the refusal is reported");
    expect(connection.status()).toBe("disconnected");
    await writeFile(`${file}.new`, second.creds);
    await rename(`${file}.new`, file);
    await until(() => connection.status() === "connected", "the connection is open again");
    expect(connection.refusal()).toBeUndefined();
  });
});

describe("a credentials file that is being written", () => {
  it("is not used until it is complete: reconnects log in with the last complete credentials", async () => {
    const file = join(directory.path, "written.creds");
    const [first, second] = [await nats.user("first"), await nats.user("second")];
    await writeFile(file, first.creds);
    const connection = await open({ credentials: first.creds, credentialsFile: file });
    const reported: string[] = [];
    connection.onStatus((status) => reported.push(status));
    for (const incomplete of ["", second.creds.slice(0, second.creds.length / 2)]) {
      reported.length = 0;
      await writeFile(file, incomplete);
      await connection.client.reconnect();
      await until(() => reported.length >= 2, "the connection was opened again, or closed");
      expect(reported).toEqual(["disconnected", "connected"]);
    }
    await nats.revoke(first);
    await until(() => connection.refusal() !== undefined, "the revoked credentials are refused");
    await writeFile(file, second.creds);
    await until(() => connection.status() === "connected", "the connection is open again");
  });
});
