import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { streams } from "../../../domain/subjects.ts";
import { connect, type Connection } from "../../../platform/jetstream/connection/connection.ts";
import { requireAccountRoom } from "../../../platform/jetstream/streams/account-limits.ts";
import { setUpStreams } from "../../../platform/jetstream/streams/streams.ts";
import { startForeignNats, startLeafNode, type ForeignNats } from "../../support/nats/foreign-nats.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.ts";
import { until } from "../../support/until.ts";

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

async function openAll(of = nats): Promise<Connection> {
  return open({ credentials: (await of.user("all")).creds }, of);
}

describe("an account in the JetStream domain of a hub", () => {
  it("has the streams and entries of a client of its leaf node", async () => {
    const hub = await startForeignNats({ directory: join(directory.path, "domain"), domain: "hub" });
    const leaf = await startLeafNode({ directory: join(directory.path, "leaf"), hub, user: "headwater" });
    try {
      const server = { servers: leaf.url, user: "headwater", pass: "headwater", apiPrefix: "$JS.hub.API" };
      const connection = await connect({ server, name: "test" });
      opened.push(connection);
      // The leaf node listens before it has reached the hub.
      await until(() =>
        connection.manager.getAccountInfo().then(
          () => true,
          () => false,
        ),
      );
      await setUpStreams(connection, streamOptions);
      await connection.publisher.publish("$KV.ROUTES.a", "entry");
      await connection.publisher.publish("invoke.default.3.s_1", "first");
      const { manager } = await openAll(hub);
      expect((await manager.streams.getMessage("KV_ROUTES", { last_by_subj: "$KV.ROUTES.a" }))?.string()).toBe("entry");
      expect((await manager.streams.info(streams.invocations)).state.messages).toBe(1);
    } finally {
      await Promise.all(opened.splice(0).map((connection) => connection.close()));
      await leaf.stop();
      await hub.stop();
    }
  });
});

describe("an account that is too small", () => {
  it.each([
    [
      { disk_storage: 100_000_000 },
      /its storage limit leaves 100000000 bytes, and the streams need 1073741824 with 1 replica: raise the limit, or lower HEADWATER_STORE_SIZE/,
    ],
    [{ streams: 5 }, /its limit of streams leaves 5, and Headwater needs 15$/],
    [{ max_bytes_required: true }, /it requires max_bytes of every stream/],
  ])("is refused with its limit: %o", async (limits, message) => {
    const small = await startForeignNats({ directory: join(directory.path, `small-${Object.keys(limits)[0]}`), limits });
    try {
      const connection = await openAll(small);
      await expect(requireAccountRoom(connection, { replicas: 1, storeBytes: 2 ** 30 })).rejects.toThrow(message);
    } finally {
      await Promise.all(opened.splice(0).map((connection) => connection.close()));
      await small.stop();
    }
  });

  it("is accepted with enough room", async () => {
    const connection = await openAll();
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
      await connection.nats.reconnect();
      await until(() => reported.length >= 2, "the connection was opened again, or closed");
      expect(reported).toEqual(["disconnected", "connected"]);
    }
    await nats.revoke(first);
    await until(() => connection.refusal() !== undefined, "the revoked credentials are refused");
    await writeFile(file, second.creds);
    await until(() => connection.status() === "connected", "the connection is open again");
  });
});
