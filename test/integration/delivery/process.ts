import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { startDelivery, type StartedDelivery } from "../../../delivery/start.ts";
import type { DeliveryConfig } from "../../../delivery/ports.ts";
import type { Log } from "../../../domain/log.ts";
import { createEgress } from "../../../platform/http/egress.ts";
import { createWebhookClient } from "../../../platform/http/webhook-client.ts";
import { connect, type Connection } from "../../../platform/jetstream/connection/connection.ts";
import { createDatabase, type Database } from "../../../platform/postgres/connection.ts";
import type { NatsConnection } from "../../../platform/process/nats/nats-connection.ts";
import { deliveryPorts } from "../../../wiring/roles/delivery-ports.ts";
import { createDeliveryHistory } from "../../../platform/postgres/history/delivery-history.ts";
import { recordedRuns } from "../../../platform/jetstream/streams/stream-identity.ts";

const attemptTimeoutMs = 5_000;
const config: DeliveryConfig = {
  deliveryDeadlineMs: 1_000,
  attemptsPerWebhook: 16,
  maxDirectListeners: 16,
  attemptTimeoutMs,
  nextAttempt: () => 200,
};
const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

export interface StartedReplica extends StartedDelivery {
  readonly replica: string;
}

/** A replica of the delivery role in this process. */
export async function startReplica(connection: Connection, database: Database, log = silent): Promise<StartedReplica> {
  const poster = createWebhookClient({ egress: createEgress({ allow: ["127.0.0.1/32"] }), timeoutMs: attemptTimeoutMs, connections: 16 });
  const history = createDeliveryHistory(database, { ...(await recordedRuns(connection)), kept: { events: 100_000, logs: 100 } });
  const ports = deliveryPorts({ connection, history, poster, secrets: { open: async (sealed) => sealed }, log });
  const started = await startDelivery(config, ports);
  return {
    ...started,
    replica: ports.replicas.replica,
    stop: async () => {
      await started.stop();
      await poster.close();
    },
  };
}

export interface MortalReplica {
  readonly replica: string;
  readonly child: ChildProcess;
  /** Resolves when it has stopped gracefully. */
  stop(): Promise<void>;
  kill(): Promise<void>;
}

/** A replica in a process of its own, which tests kill, suspend and stop. */
export async function startMortalReplica(server: NatsConnection, databaseUrl: string): Promise<MortalReplica> {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(server), databaseUrl], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const [replica] = (await once(child, "message")) as [string];
  const end = async (act: () => void): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    act();
    await exit;
  };
  return { replica, child, stop: () => end(() => child.send("stop")), kill: () => end(() => child.kill("SIGKILL")) };
}

async function live(server: NatsConnection, databaseUrl: string): Promise<void> {
  const connection = await connect({ server, name: "delivery" });
  const database = createDatabase({ url: databaseUrl });
  const printLog = (fields: object, message?: string): void =>
    void (
      process.env["REPLICA_LOG"] &&
      process.stderr.write(`${new Date().toISOString()} ${process.pid} ${message} ${JSON.stringify(fields)}\n`)
    );
  const log = { info: () => undefined, warn: printLog, error: printLog };
  const replica = await startReplica(connection, database, log);
  process.on("disconnect", () => process.exit());
  process.on("message", () => {
    void (async () => {
      await replica.stop();
      await connection.close();
      await database.close();
      process.exit();
    })();
  });
  process.send?.(replica.replica);
}

const [, script, server, databaseUrl] = process.argv;
if (script === fileURLToPath(import.meta.url) && server !== undefined && databaseUrl !== undefined)
  await live(JSON.parse(server) as NatsConnection, databaseUrl); // Written above.
