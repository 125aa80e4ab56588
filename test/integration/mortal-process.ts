import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { connect } from "../../platform/jetstream/connection.ts";
import { servePoolRequests } from "../../platform/jetstream/pool-requests.ts";
import type { NatsConnection } from "../../platform/process/nats-connection.ts";
import { nothingSeen, startCountingRunner } from "./counting-runner.ts";

/** A runner, or whoever serves what runners ask for, in a process of its own: to be killed. */
export type MortalRole = "runner" | "requests";

export async function startMortal(role: MortalRole, server: NatsConnection): Promise<{ kill(): Promise<void> }> {
  const child = fork(fileURLToPath(import.meta.url), [role, JSON.stringify(server)], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  await once(child, "message");
  return { kill: () => killed(child) };
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

async function live(role: string, server: NatsConnection): Promise<void> {
  const connection = await connect({ server, name: role });
  if (role === "requests") await servePoolRequests(connection);
  else await startCountingRunner(connection, nothingSeen(), { running: () => new Promise((resolve) => setTimeout(resolve, 2)) });
  process.on("disconnect", () => process.exit());
  process.send?.("ready");
}

const [, script, role, server] = process.argv;
if (script === fileURLToPath(import.meta.url) && role !== undefined && server !== undefined)
  await live(role, JSON.parse(server) as NatsConnection); // Written above.
