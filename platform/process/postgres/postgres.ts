import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync, rmSync } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Unavailable } from "../../../domain/errors.ts";
import { retry, waitUntil } from "../../../domain/retry.ts";
import { freePort } from "../free-port.ts";
import { allowTraversal, requireTraversal } from "../let-pass.ts";
import { tracked } from "../own-children.ts";
import { storedPassword } from "./password.ts";
import { initialiseCluster } from "./postgres-cluster.ts";
import { findPostgres, type PostgresInstallation } from "./postgres-installation.ts";
import { commandLine, endChild, endProcess, hasExited } from "../processes.ts";

export interface PostgresOptions {
  /** For the cluster, its password and its log; kept between starts. */
  readonly dataDirectory: string;
  /** 0 or absent: any free port. */
  readonly port?: number;
  /** False trades durability for speed: only for tests. */
  readonly durable?: boolean;
}

export interface PostgresServer {
  /** postgres://user:password@127.0.0.1:port/postgres. Contains the password: never log it. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Resolves when the process ends, for whatever reason. */
  readonly exited: Promise<void>;
  /** Shuts the server down gracefully (fast shutdown: open transactions are rolled back). */
  stop(): Promise<void>;
  /** Kills it, like a crash. */
  kill(): Promise<void>;
}

const startTimeoutMs = 30_000;
const stopTimeoutMs = 5_000;
export const postgresUser = "headwater";

/** Starts our own Postgres on 127.0.0.1, creating its cluster on first use; resolves when it accepts connections. */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const directory = resolve(options.dataDirectory);
  await mkdir(directory, { recursive: true });
  const installation = await findPostgres();
  if (installation.owner !== undefined) {
    await allowTraversal(directory);
    await requireTraversal(dirname(installation.postgres));
  }
  const password = await storedPassword(join(directory, "password"));
  await initialiseCluster(installation, directory, password, options.durable ?? true);
  await endStale(directory);
  const [child, port] = await startOnFreePort(installation, directory, options);
  return {
    url: `postgres://${postgresUser}:${password}@127.0.0.1:${port}/postgres`,
    port,
    pid: child.pid ?? 0,
    exited: new Promise((done) => child.once("exit", () => done())),
    stop: () => endChild(child, "SIGINT", stopTimeoutMs),
    kill: () => endChild(child, "SIGKILL", stopTimeoutMs),
  };
}

/** Postgres cannot choose a port itself, so the start is retried if another process took the port. */
async function startOnFreePort(
  installation: PostgresInstallation,
  directory: string,
  options: PostgresOptions,
): Promise<[ChildProcess, number]> {
  const fixed = options.port !== undefined && options.port !== 0 ? options.port : undefined;
  const start = async (): Promise<[ChildProcess, number]> => {
    const port = fixed ?? (await freePort());
    const child = launch(installation, directory, port, options.durable ?? true);
    if (await isReady(child, directory)) return [child, port];
    const output = await lastLines(join(directory, "postgres.log"));
    throw new Unavailable(`Postgres did not start in ${directory} on port ${port}: ${output || "no output"}`);
  };
  // Processes of a killed server release their shared memory a moment later.
  const isTransient = (error: unknown): boolean =>
    error instanceof Unavailable && /shared memory block|lock file|Address already in use/.test(error.message);
  return retry(start, { firstMs: 300, maxAttempts: 10, withinMs: startTimeoutMs, isTransient });
}

/** Few connections and little memory: one process of ours is the only client. Other settings have Postgres' defaults, including `fsync`. */
const settings: Readonly<Record<string, string>> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  shared_buffers: "32MB",
  max_connections: "60",
  // Replication requires an external Postgres.
  wal_level: "minimal",
  max_wal_senders: "0",
  min_wal_size: "32MB",
  max_wal_size: "256MB",
  // Disables idle processes: asynchronous I/O workers, parallel queries, the replication launcher.
  io_method: "sync",
  max_parallel_workers_per_gather: "0",
  max_logical_replication_workers: "0",
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
};
const nonDurable: Readonly<Record<string, string>> = {
  // Files of tests that run at once share the server.
  max_connections: "300",
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
};

/** See `launch` in nats-server.ts for the session and the log file. */
function launch(installation: PostgresInstallation, directory: string, port: number, durable: boolean): ChildProcess {
  const all = { ...settings, ...(durable ? {} : nonDurable) };
  const flags = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  // Processes of a killed server may still write to the old log file.
  rmSync(join(directory, "postgres.log"), { force: true });
  const log = openSync(join(directory, "postgres.log"), "w", 0o600);
  const child = spawn(installation.postgres, ["-D", join(directory, "data"), "-p", String(port), ...flags], {
    stdio: ["ignore", log, log],
    detached: true,
    cwd: join(directory, "data"),
    env: { ...process.env, LC_MESSAGES: "C" },
    ...installation.owner,
  });
  closeSync(log);
  // A failed start shows as an exit before the server is ready.
  child.on("error", () => undefined);
  child.unref();
  return tracked(child, "SIGINT");
}

/** Line 8 of postmaster.pid is "ready" once connections are accepted, as pg_ctl checks. */
async function isReady(child: ChildProcess, directory: string): Promise<boolean> {
  let ready = false;
  const stopped = (): boolean => child.pid === undefined || hasExited(child);
  await waitUntil(async () => {
    const lines = await pidFileLines(directory);
    ready = lines[0] === String(child.pid) && lines[7]?.trim() === "ready";
    return ready || stopped();
  }, startTimeoutMs);
  if (!ready && child.pid !== undefined) await endChild(child, "SIGKILL", stopTimeoutMs);
  return ready;
}

async function pidFileLines(directory: string): Promise<readonly string[]> {
  return (await readFile(join(directory, "data", "postmaster.pid"), "utf8").catch(() => "")).split("\n");
}

async function lastLines(file: string): Promise<string> {
  return (await readFile(file, "utf8").catch(() => "")).trim().split("\n").slice(-3).join(" | ");
}

/**
 * Shuts down a server of this cluster that outlived its parent. Also removes the pid file if its id belongs to another process by now,
 * because Postgres would refuse to start.
 */
async function endStale(directory: string): Promise<void> {
  const pid = Number((await pidFileLines(directory))[0]);
  if (!(pid > 0)) return;
  if ((await commandLine(pid)).includes(join(directory, "data"))) await endProcess(pid, "SIGINT", stopTimeoutMs);
  await rm(join(directory, "data", "postmaster.pid"), { force: true });
}
