import { Unavailable } from "../domain/errors.ts";
import { retry } from "../domain/retry.ts";
import { connect, type Connection } from "../platform/jetstream/connection/connection.ts";
import { missingStreams } from "../platform/jetstream/streams/streams.ts";
import type { RoleContext } from "./context.ts";
import { Shared } from "../platform/process/shared.ts";

const setUpTimeoutMs = 60_000;
const notSetUp = "not_set_up";

/** By what they were opened with: roles of one process share what they may share. */
const natsConnections = new Shared<object, Connection>((connection) => connection.close());

/** The process's connection to NATS; `release` it when the role stops. */
export async function natsOf(context: RoleContext): Promise<{ connection: Connection; release: () => Promise<void> }> {
  const { value: connection, release } = await natsConnections.use(context.nats, () => openNats(context));
  return { connection, release };
}

async function openNats(context: RoleContext): Promise<Connection> {
  const connection = await connect({
    server: context.nats,
    name: `headwater ${context.configuration.roles.join(",")}`,
  });
  connection.onStatus((status) => context.logger.info({ op: "nats.status", status }, `nats is ${status}`));
  try {
    await streamsExist(connection, context.logger);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Roles may start in any order and on any machine; the streams are set up by one that may, see `startRoles`, in a cluster by setup. */
export async function streamsExist(
  connection: Connection,
  log: Pick<RoleContext["logger"], "warn">,
  waitMs = setUpTimeoutMs,
): Promise<void> {
  const requireStreams = async (): Promise<void> => {
    const missing = await missingStreams(connection);
    if (missing?.length === 0) return;
    const problem = missing === undefined ? "has no streams of Headwater yet" : `lacks streams of this version (${missing.join(", ")})`;
    throw new Unavailable(
      `NATS ${problem}, after ${waitMs / 1000} s of waiting: run setup of this version (npm start -- --setup), or start the operator; in a cluster look at the Job headwater-setup`,
      { code: notSetUp, details: missing ?? "all" },
    );
  };
  const isTransient = (error: unknown): boolean => error instanceof Unavailable && error.code === notSetUp;
  const onFailure = (error: unknown, failures: number): void => {
    if (failures > 1 || !(error instanceof Unavailable)) return;
    log.warn({ op: "nats.wait", missing: error.details }, "NATS lacks streams of this version: waiting for setup (npm start -- --setup)");
  };
  await retry(requireStreams, { firstMs: 250, withinMs: waitMs, isTransient, onFailure });
}

/** Asks what this process has open whether it is up. @throws Unavailable */
export async function checkConnections({ databaseUrl }: RoleContext): Promise<void> {
  const connections = await natsConnections.all();
  if (connections.some((connection) => connection.status() !== "connected")) throw new Unavailable("the message server cannot be reached");
  if (databaseUrl === undefined) return;
  const { checkDatabase } = await import("./database.ts"); // Runners and builders have none, and load nothing of it.
  await checkDatabase(databaseUrl);
}
