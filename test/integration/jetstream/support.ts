import { afterAll, beforeAll } from "vitest";
import { connect, type Connection } from "../../../platform/jetstream/connection/connection.ts";
import type { Stoppable } from "../../../platform/jetstream/connection/link.ts";
import { servePoolRequests } from "../../../platform/jetstream/invocations/pool-requests.ts";
import { setUpStreams, type StreamOptions } from "../../../platform/jetstream/streams/streams.ts";
import { withNats, type TestNats } from "../../support/nats/nats.ts";

export const streamOptions: StreamOptions = { replicas: 1, partitions: 4, pool: "default" };

export interface TestJetStream {
  readonly server: TestNats;
  readonly connection: Connection;
  readonly addConnection: () => Promise<Connection>;
}

/** A server with all streams and a connection to it, for the test file that calls this at its top level. */
export function withJetStream(options: Partial<StreamOptions> = {}, natsOptions: Parameters<typeof withNats>[0] = {}): TestJetStream {
  const server = withNats(natsOptions);
  const connections: Connection[] = [];
  const addConnection = async (): Promise<Connection> => {
    const connection = await connect({ server: server.connection, name: "test", requestTimeoutMs: 60_000 });
    connections.push(connection);
    return connection;
  };
  beforeAll(async () => {
    await setUpStreams(await addConnection(), { ...streamOptions, ...options });
  });
  afterAll(() => Promise.all(connections.map((connection) => connection.close())));
  return {
    server,
    addConnection,
    get connection() {
      const [first] = connections;
      if (first === undefined) throw new Error("no connection before beforeAll");
      return first;
    },
  };
}

/** Serves the requests of runners, for the test file that calls this at its top level. */
export function withPoolRequests(nats: TestJetStream): void {
  let requests: Stoppable;
  beforeAll(async () => {
    requests = await servePoolRequests(nats.connection);
  });
  afterAll(() => requests.stop());
}

/** For assertions that a state does not change, which cannot be waited for: how long it must stay the same. */
export const quietMs = 300;

/** All data of the streams that a role could change, and their consumers. @param admin may list them */
export async function contentOf(admin: Connection): Promise<string> {
  const streams: string[] = [];
  for await (const { config, state } of admin.manager.streams.list()) {
    const consumers: string[] = [];
    for await (const consumer of admin.manager.consumers.list(config.name)) consumers.push(consumer.name);
    streams.push(`${config.name} ${state.messages} ${state.last_seq} ${config.subjects?.join()} ${consumers.toSorted().join()}`);
  }
  return streams.toSorted().join("\n");
}
