import { join } from "node:path";
import { connect, type Connection } from "../../platform/jetstream/connection/connection.ts";
import { freePort } from "../../platform/process/free-port.ts";
import type { NatsConnection } from "../../platform/process/nats/nats-connection.ts";
import type { RoleName } from "../../platform/process/settings/configuration.ts";
import { setUp } from "../../platform/process/settings/environment.ts";
import { cpuOf, memoryOf, type Part, type ProcessUse } from "../../test/support/process-tree.ts";
import { runMain, startMain } from "../../test/support/system/main-process.ts";
import { startServers } from "../../test/support/system/servers.ts";
import { temporaryDirectory } from "../../test/support/temporary-directory.ts";

/** The real processes: `main.ts` with its children, nats-server and Postgres as an embedded start runs them. */
export interface System {
  readonly nats: NatsConnection;
  /** The bench's own connection, for looking and for writing entries. */
  readonly connection: Connection;
  readonly keysDirectory: string;
  readonly ingressPort: number;
  cpu(): readonly ProcessUse[];
  memory(): ReadonlyMap<Part, number>;
  stop(): Promise<void>;
}

export interface SystemOptions {
  readonly roles: readonly RoleName[];
  readonly env?: Readonly<Record<string, string>>;
}

const running = new Set<AsyncDisposableStack>();

/** Ends every system that runs: the servers have sessions of their own and would outlive a bench that is ended. */
export async function stopSystems(): Promise<void> {
  await Promise.allSettled([...running].map((started) => started.disposeAsync()));
}

export const allRoles: readonly RoleName[] = ["ingress", "api", "operator", "delivery", "runner", "builder"];

/** Starts everything in a new data directory, which `stop` removes. */
export const startSystem = ({ roles, env = {} }: SystemOptions): Promise<System> =>
  stopsAtEnd(async (started, directory) => {
    const servers = started.adopt(await startServers(directory, { hasUsers: false }), (each) => each.stop());
    const [api, ingress] = [await freePort(), await freePort()];
    const settings = { ...servers.settingsOf("admin"), HEADWATER_DATA: directory };
    // Without the API, the operator or delivery, the process below makes no streams and tables.
    await runMain({ env: { ...settings, HEADWATER_ROLES: setUp } });
    const listen = { HEADWATER_LISTEN: `127.0.0.1:${api}`, HEADWATER_INGRESS_LISTEN: `127.0.0.1:${ingress}` };
    const main = await startMain({ env: { ...settings, ...listen, HEADWATER_ROLES: roles.join(","), ...env }, onOutput: showWarnings });
    started.defer(() => main.end("SIGTERM"));
    const nats = servers.nats.connection();
    const connection = started.adopt(await connect({ server: nats, name: "bench" }), (each) => each.close());
    const roots = [main.pid, ...servers.pids()];
    return {
      nats,
      connection,
      keysDirectory: join(directory, "keys"),
      ingressPort: ingress,
      cpu: () => cpuOf(roots),
      memory: () => memoryOf(roots),
    };
  });

/** Adds a `stop` that ends in reverse order what has been started and removes the directory. The same happens when the start fails. */
export async function stopsAtEnd<T extends object>(
  start: (started: AsyncDisposableStack, directory: string) => Promise<T>,
): Promise<T & { stop(): Promise<void> }> {
  const started = new AsyncDisposableStack();
  running.add(started);
  const stop = async (): Promise<void> => {
    running.delete(started);
    await started.disposeAsync();
  };
  try {
    const { path } = started.adopt(await temporaryDirectory("bench"), (directory) => directory.remove());
    return { ...(await start(started, path)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A warning in the middle of a figure explains the figure. */
export function showWarnings(text: string): void {
  if (/"level":"(warn|error|fatal)"|"level":(40|50|60)/.test(text)) process.stderr.write(text.slice(0, 500));
}
