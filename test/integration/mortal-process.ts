import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { connect } from "../../platform/jetstream/connection/connection.ts";
import type { NatsConnection } from "../../platform/process/nats/nats-connection.ts";
import { nothingSeen, startCountingRunner } from "./counting-runner.ts";

/** Starts a runner in a process of its own, to be killed. */
export async function startMortalRunner(server: NatsConnection): Promise<{ kill(): Promise<void> }> {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(server)], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  await once(child, "message");
  return { kill: () => killed(child) };
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

async function live(server: NatsConnection): Promise<void> {
  const connection = await connect({ server, name: "runner" });
  await startCountingRunner(connection, nothingSeen(), { running: () => new Promise((resolve) => setTimeout(resolve, 2)) });
  process.on("disconnect", () => process.exit());
  process.send?.("ready");
}

const [, script, server] = process.argv;
if (script === fileURLToPath(import.meta.url) && server !== undefined) await live(JSON.parse(server) as NatsConnection); // Written above.
