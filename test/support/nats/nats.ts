import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { isAlive } from "../../../platform/process/processes.ts";
import type { NatsConnection } from "../../../platform/process/nats/nats-connection.ts";
import { findNatsServer, startNats, type NatsOptions, type NatsServer } from "../../../platform/process/nats/nats-server.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../temporary-directory.ts";

export interface TestNats {
  /** For `connect({ ...nats.connection })`; available from `beforeAll` on. */
  readonly connection: NatsConnection;
  readonly server: NatsServer;
  /** Kills the server with SIGKILL and starts it again on the same data and port. */
  crash(): Promise<void>;
}

type Options = Omit<NatsOptions, "dataDirectory">;

/** Starts a nats-server for the test file that calls this at its top level. A server that outlives the file fails it. */
export function withNats(options: Options = {}): TestNats {
  let directory: TemporaryDirectory;
  let server: NatsServer;
  const start = async (port = 0): Promise<void> => {
    server = await startNats({
      port,
      ...options,
      binary: await natsBinary(),
      dataDirectory: join(directory.path, "nats"),
    });
  };
  beforeAll(async () => {
    directory = await temporaryDirectory("nats");
    await start(options.port);
  });
  afterAll(async () => {
    await server.stop();
    await directory.remove();
    if (isAlive(server.pid)) throw new Error(`nats-server ${server.pid} outlived its test`);
  });
  return {
    get connection() {
      return server.connection;
    },
    get server() {
      return server;
    },
    crash: async () => {
      await server.kill();
      await start(server.port);
    },
  };
}

/** Path of the nats-server that all tests use. */
export async function natsBinary(): Promise<string> {
  return (await findNatsServer({ onProgress: (line) => process.stderr.write(`${line}\n`) })).path;
}
