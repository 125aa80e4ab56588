import { Invariant, Unavailable } from "../domain/errors.ts";
import { connect, type Connection } from "../platform/jetstream/connection/connection.ts";
import { RunAnswers } from "../platform/jetstream/requests/run-answers.ts";
import { waitForStreams } from "../platform/jetstream/streams/wait-for-streams.ts";
import { Shared } from "../platform/process/shared.ts";
import type { RoleContext } from "./context.ts";

/** By credentials: roles of one process that have the same share a connection. */
const connections = new Shared<object, Connection>((connection) => connection.close());

/** The process's connection to NATS, until `opened` is disposed. @throws Unavailable */
export async function openNats(context: RoleContext, opened: AsyncDisposableStack): Promise<Connection> {
  const { value, release } = await connections.use(context.nats, () => connectNats(context));
  opened.defer(release);
  return value;
}

/** Receives the answers of runs, until `opened` is disposed. */
export function startAnswers(connection: Connection, opened: AsyncDisposableStack): RunAnswers {
  const answers = new RunAnswers(connection);
  answers.start();
  opened.defer(() => answers.stop());
  return answers;
}

async function connectNats(context: RoleContext): Promise<Connection> {
  const { nats, configuration, logger } = context;
  const connection = await connect({ server: nats, name: `headwater ${configuration.roles.join(",")}`, onUnexpectedClose });
  connection.onStatus((status) => logger.info({ op: "nats.status", status }, `nats is ${status}`));
  try {
    await waitForStreams(connection, logger);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Nothing opens the connection again, so the process ends: `main.ts` stops the roles after an error that is not caught. */
function onUnexpectedClose(cause: unknown): void {
  process.nextTick(() => {
    throw new Invariant("the client has closed the connection to NATS and does not connect again", { cause });
  });
}

function lostConnection(connection: Connection): Unavailable {
  const refusal = connection.refusal();
  if (refusal === undefined) return new Unavailable("NATS cannot be reached");
  return new Unavailable(
    `NATS refuses the credentials (${refusal}): replace the file that HEADWATER_NATS_CREDENTIALS names, which is read again without a restart`,
    { code: "nats_credentials" },
  );
}

/** Checks the connections that this process has opened. @throws Unavailable */
export async function checkConnections({ databaseUrl }: RoleContext): Promise<void> {
  const opened = await connections.all();
  const lost = opened.find((connection) => connection.status() !== "connected");
  if (lost !== undefined) throw lostConnection(lost);
  if (databaseUrl === undefined) return;
  const { checkDatabase } = await import("./database.ts"); // Runners and builders have no database, and do not load its code.
  await checkDatabase(databaseUrl);
}
