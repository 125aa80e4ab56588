import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type Connection } from "../../platform/jetstream/connection/connection.ts";
import type { RoleName } from "../../platform/process/settings/configuration.ts";
import { setUp } from "../../platform/process/settings/environment.ts";
import { freePort } from "../../platform/process/free-port.ts";
import { startNats } from "../../platform/process/nats/nats-server.ts";
import { formatNatsUrl, type NatsConnection } from "../../platform/process/nats/nats-connection.ts";
import { startNatsCluster } from "../../test/support/nats/nats-cluster.ts";
import { startPostgres } from "../../platform/process/postgres/postgres.ts";
import { cpuOf, memoryOf, type Part, type ProcessUse } from "./measure/process-tree.ts";

const root = join(import.meta.dirname, "..", "..");

/** The real processes: `main.ts` with its children, nats-server and Postgres as an embedded start runs them. */
export interface System {
  readonly nats: NatsConnection;
  readonly databaseUrl: string;
  /** The bench's own connection, for looking and for writing entries. */
  readonly connection: Connection;
  readonly dataDirectory: string;
  readonly apiUrl: string;
  readonly ingressPort: number;
  readonly roots: readonly number[];
  cpu(): readonly ProcessUse[];
  memory(): ReadonlyMap<Part, number>;
  /** Key of the user that the first start makes. */
  key(): Promise<string>;
  stop(): Promise<void>;
}

export interface SystemOptions {
  readonly roles: readonly RoleName[];
  readonly env?: Readonly<Record<string, string>>;
  /** Processes with the runner role, the main one included. Default: 1, if the roles include it. */
  readonly runners?: number;
}

const running = new Set<() => Promise<void>>();

/** Ends every system that runs: the servers have sessions of their own and would outlive a bench that is ended. */
export async function stopSystems(): Promise<void> {
  await Promise.allSettled([...running].map((stop) => stop()));
}

export const allRoles: readonly RoleName[] = ["ingress", "api", "operator", "delivery", "runner", "builder"];

/** `--nats-servers`: with several, each stream has a replica on each. */
const natsServers = Number(process.env["HEADWATER_BENCH_NATS_SERVERS"] ?? 1);

interface NatsServers {
  readonly connection: NatsConnection;
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

async function startServers(directory: string): Promise<NatsServers> {
  if (natsServers === 1) {
    const server = await startNats({ dataDirectory: join(directory, "nats"), syncInterval: "always" });
    return { connection: server.connection, pids: [server.pid], stop: () => server.stop() };
  }
  const { connection, servers, stop } = await startNatsCluster(directory, undefined, natsServers);
  return { connection, pids: servers.map(({ pid }) => pid), stop };
}

/** Starts everything in a new data directory, which `stop` removes. `sync_interval` is always. */
export async function startSystem({ roles, env = {}, runners = 1 }: SystemOptions): Promise<System> {
  const directory = await mkdtemp(join(tmpdir(), "headwater-bench-"));
  const [nats, postgres] = await Promise.all([startServers(directory), startPostgres({ dataDirectory: join(directory, "postgres") })]);
  const ports = { api: await freePort(), ingress: await freePort() };
  const servers = {
    NATS_URL: formatNatsUrl(nats.connection),
    DATABASE_URL: postgres.url,
    HEADWATER_DATA: directory,
    HEADWATER_STREAM_REPLICAS: String(natsServers),
  };
  // Without the API, the operator or delivery, nothing that is started below makes streams and tables.
  await startMain({ ...servers, HEADWATER_ROLES: setUp }, "ignore").ended;
  const main = startMain({
    ...servers,
    HEADWATER_ROLES: roles.join(","),
    HEADWATER_LISTEN: `127.0.0.1:${ports.api}`,
    HEADWATER_INGRESS_LISTEN: `127.0.0.1:${ports.ingress}`,
    ...env,
  });
  const others = Array.from({ length: runners - 1 }, () => startMain({ ...servers, HEADWATER_ROLES: "runner", ...env }));
  const stop = async (): Promise<void> => {
    running.delete(stop);
    await Promise.all([main, ...others].map((each) => each.stop()));
    await Promise.all([nats.stop(), postgres.stop()]);
    await rm(directory, { recursive: true, force: true });
  };
  running.add(stop);
  try {
    await Promise.all([main, ...others].map(({ ready }) => ready));
    const connection = await connect({ server: nats.connection, name: "bench" });
    const roots = [main.pid, ...others.map(({ pid }) => pid), ...nats.pids, postgres.pid];
    return {
      nats: nats.connection,
      databaseUrl: postgres.url,
      connection,
      dataDirectory: directory,
      apiUrl: `http://127.0.0.1:${ports.api}/v1`,
      ingressPort: ports.ingress,
      roots,
      cpu: () => cpuOf(roots),
      memory: () => memoryOf(roots),
      key: async () => (await readFile(join(directory, "api-key"), "utf8")).trim(),
      stop: async () => {
        await connection.close();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Main {
  readonly pid: number;
  readonly ready: Promise<void>;
  /** Resolves when it ends by itself without an error. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/** @param channel over which it reports that it is ready; while it is open, the process does not end by itself */
function startMain(env: Readonly<Record<string, string>>, channel: "ipc" | "ignore" = "ipc"): Main {
  const quiet = { HEADWATER_EGRESS_ALLOW: "127.0.0.0/8", HEADWATER_LOG_LEVEL: "warn" };
  const flags = ["--no-node-snapshot", "--max-semi-space-size=8"]; // As scripts/launch.mjs starts it.
  const child = spawn(process.execPath, [...flags, join(root, "main.ts")], {
    cwd: root,
    env: { ...surroundings(), ...quiet, ...env },
    stdio: ["ignore", "pipe", "inherit", channel],
  });
  const said = shown(child);
  const exited = once(child, "exit").then(([code]) => Number(code));
  const failure = (): Error => new Error(`Headwater ended:\n${said()}`);
  const ended = exited.then((code) => (code === 0 ? undefined : Promise.reject(failure())));
  const isReady = once(child, "message").then(() => undefined);
  const ready = Promise.race([isReady, exited.then(() => Promise.reject(failure()))]);
  for (const promise of [ended, ready]) promise.catch(() => undefined); // Each caller waits for one of them.
  return {
    pid: child.pid ?? 0,
    ready,
    ended,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

/** The bench prints its output: a warning in the middle of a figure explains the figure. */
function shown(child: ChildProcess): () => string {
  let said = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    said = `${said}${chunk.toString()}`.slice(-20_000);
    if (/"level":"(warn|error|fatal)"|"level":(40|50|60)/.test(chunk.toString())) process.stderr.write(chunk.toString().slice(0, 500));
  });
  return () => said;
}

/** Settings of the environment must not change what is measured. */
export function surroundings(): NodeJS.ProcessEnv {
  const ours = /^(HEADWATER_(?!NATS_SERVER)|NATS_URL|DATABASE_URL|NODE_OPTIONS|KUBE)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
}
