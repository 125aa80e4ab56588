import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ConfiguredProps } from "../../domain/component/configure.ts";
import { partitionCount } from "../../domain/subjects.ts";
import { requestConfigure, serveConfigureRequests } from "../../platform/jetstream/requests/configure-requests.ts";
import { connect, type Connection } from "../../platform/jetstream/connection/connection.ts";
import { openLink, type Link } from "../../platform/jetstream/connection/link.ts";
import { setUpPool } from "../../platform/jetstream/invocations/pool-consumers.ts";
import { setUpStreams } from "../../platform/jetstream/streams/streams.ts";
import { roleCredentials, systemCredentials } from "../../platform/process/nats/nats-accounts.ts";
import { credentialsForPool } from "../../platform/process/nats/nats-claims.ts";
import { parseCredentials } from "../../platform/process/nats/nats-connection.ts";
import { storedNatsRoot, natsKeysOf, type NatsKeys } from "../../platform/process/nats/nats-keys.ts";
import { startNats, type NatsServer } from "../../platform/process/nats/nats-server.ts";
import { natsBinary } from "../support/nats/nats.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { streamOptions } from "./jetstream/support.ts";

/** A role with the right to send configure requests is trusted to have checked the component's owner. Uses each role's own credentials on a real NATS server. */
const props: ConfiguredProps = { outcome: "props", props: [{ name: "a", type: "string" }] };
const request = { namespace: "hw-u-1", component: "c", call: { kind: "props" } };
const asked: string[] = [];
const open: { close(): Promise<void> }[] = [];
let directory: TemporaryDirectory;
let server: NatsServer;
let keys: NatsKeys;

async function as(role: string, credentials: string): Promise<Connection> {
  const connection = await connect({ server: { servers: server.url, ...parseCredentials(credentials) }, name: role });
  open.push(connection);
  return connection;
}

beforeAll(async () => {
  directory = await temporaryDirectory("configure-rights");
  keys = natsKeysOf(await storedNatsRoot(join(directory.path, "keys", "nats.root")));
  server = await startNats({ dataDirectory: join(directory.path, "nats"), keys, binary: await natsBinary() });
  const operator = await as("operator", await roleCredentials(keys, "operator"));
  await setUpStreams(operator, { ...streamOptions, partitions: partitionCount });
  await setUpPool(operator, { pool: "own" });
  await serveConfigureRequests(operator, async ({ component }) => {
    asked.push(component);
    return props;
  });
});
afterAll(async () => {
  await Promise.allSettled(open.map((each) => each.close()));
  await server.stop();
  await directory.remove();
});

describe("calls of components", () => {
  it("can be requested by the API", async () => {
    const api = await as("api", await roleCredentials(keys, "api"));
    expect(await requestConfigure(api.nats, request)).toEqual(props);
    expect(asked).toEqual(["c"]);
  });

  it.each(["ingress", "delivery"] as const)("cannot be requested by the role %s", async (role) => {
    const { nats } = await as(role, await roleCredentials(keys, role));
    await expect(nats.request("configure.request", JSON.stringify(request), { timeout: 2_000 })).rejects.toThrow();
    expect(asked).toEqual(["c"]);
  });

  it("cannot be requested by runners and builders", async () => {
    const system: Link = await openLink({ server: { servers: server.url, credentials: await systemCredentials(keys) }, name: "system" });
    open.push(system);
    const { nats } = await as("runner", await credentialsForPool(system, keys, { pool: "own", owner: "u_1" }));
    await expect(nats.request("configure.request", JSON.stringify(request), { timeout: 2_000 })).rejects.toThrow();
    expect(asked).toEqual(["c"]);
  });
});
