import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { givenNats } from "../../platform/process/nats/given-nats.ts";
import { parseConfiguration } from "../../platform/process/settings/configuration.ts";
import { createLogger } from "../../platform/telemetry/logger.ts";
import { openNats } from "../../wiring/connections.ts";
import type { RoleContext } from "../../wiring/context.ts";

/** The context of a role or of setup that has no database. */
export async function contextWithoutDatabase(env: Readonly<Record<string, string>>, dataDirectory: string): Promise<RoleContext> {
  const configuration = parseConfiguration(env);
  return {
    ...(await givenNats(configuration)),
    configuration,
    databaseUrl: undefined,
    databaseUrlOf: () => undefined,
    databasePasswords: undefined,
    dataDirectory,
    logger: createLogger({ level: "silent" }),
  };
}

/** Starts a process with the connection of a role, which the client closes by itself. */
export function startClosingRole(env: Readonly<Record<string, string>>): ChildProcess {
  return fork(fileURLToPath(import.meta.url), [JSON.stringify(env)], { stdio: ["ignore", "ignore", "pipe", "ipc"] });
}

async function closeConnection(env: Readonly<Record<string, string>>): Promise<void> {
  const context = await contextWithoutDatabase(env, "unused");
  const connection = await openNats(context, new AsyncDisposableStack());
  process.on("disconnect", () => process.exit(2)); // Also keeps the process alive, like the servers of a role.
  await connection.nats.close();
}

const [, script, env] = process.argv;
if (script === fileURLToPath(import.meta.url) && env !== undefined)
  await closeConnection(JSON.parse(env) as Readonly<Record<string, string>>); // Written above.
