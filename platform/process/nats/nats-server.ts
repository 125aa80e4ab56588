import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { z } from "zod";
import { Unavailable } from "../../../domain/errors.ts";
import { defaultPool } from "../../../domain/subjects.ts";
import { findNatsServer } from "./find-nats-server.ts";
import { adminCredentials, streamsAccountId, type Pool } from "./nats-accounts.ts";
import { authentication } from "./nats-configuration.ts";
import { parseCredentials, type NatsConnection } from "./nats-connection.ts";
import type { NatsKeys } from "./nats-keys.ts";
import { tracked } from "../own-children.ts";
import { storedPassword } from "../postgres/password.ts";
import { waitUntil } from "../../../domain/retry.ts";
import { commandLine, endChild, endProcess, hasExited } from "../processes.ts";

export { findNatsServer } from "./find-nats-server.ts";

export interface NatsOptions {
  /** For the server's files, its configuration and its password. */
  readonly dataDirectory: string;
  /** 0 or absent: any free port. */
  readonly port?: number;
  /** HTTP monitoring (`/healthz`, `/jsz`) on 127.0.0.1; 0: any free port; absent: none. */
  readonly monitoringPort?: number;
  /** `always` syncs every message before acknowledging it; with an interval a power failure loses that much. */
  readonly syncInterval?: "always" | "100ms";
  /** Limit of the streams' disk usage; absent: three quarters of the free space at start. */
  readonly maxFileStoreBytes?: number;
  /** With keys the server has accounts and roles (nats-accounts.ts), otherwise one user with all rights. */
  readonly keys?: NatsKeys;
  /** Pools known from the start. Default: the default pool. */
  readonly pools?: readonly Pool[];
  /** Membership in a cluster with replicated streams; absent: a single server. */
  readonly cluster?: NatsCluster;
  /** Absent: plaintext. */
  readonly tls?: NatsTls;
  /** Path of nats-server. Default: `findNatsServer()`. */
  readonly binary?: string;
}

/** Files of the server's certificate, for clients and for the routes of a cluster. SIGHUP makes the server read them again. */
interface NatsTls {
  readonly certificate: string;
  readonly key: string;
  /** Authorities of the clients' and the servers' certificates. */
  readonly ca: string;
  readonly requiresClientCertificate: boolean;
}

/** Configured like the servers of the chart. */
interface NatsCluster {
  /** Unique per server; identifies its replicas of streams. */
  readonly serverName: string;
  readonly port: number;
  /** Ports of all servers, on 127.0.0.1. */
  readonly ports: readonly number[];
  /** Shared password of the servers. */
  readonly password: string;
}

export interface NatsServer {
  /** nats://127.0.0.1:port, without credentials. */
  readonly url: string;
  /** Address and credentials; spread into `connect`. */
  readonly connection: NatsConnection;
  readonly port: number;
  readonly monitoringPort: number | undefined;
  readonly pid: number;
  /** Resolves when the process ends, for whatever reason. */
  readonly exited: Promise<void>;
  /** Shuts the server down gracefully. */
  stop(): Promise<void>;
  /** Kills it, like a crash. */
  kill(): Promise<void>;
}

const user = "headwater";
const startTimeoutMs = 20_000;
const stopTimeoutMs = 4_000;

/** Starts a JetStream server on 127.0.0.1; resolves when it accepts connections. */
export async function startNats(options: NatsOptions): Promise<NatsServer> {
  const directory = resolve(options.dataDirectory);
  const binary = options.binary ?? (await findNatsServer()).path;
  await mkdir(directory, { recursive: true });
  await endStale(directory);
  const { access, connection } = await accessOf(directory, options);
  const configFile = join(directory, "nats-server.conf");
  await writeFile(configFile, configuration(directory, options, access), { mode: 0o600 });
  const child = launch(binary, directory, configFile);
  const ports = await waitForPorts(child, directory);
  return natsServer(child, ports, connection);
}

function natsServer(child: ChildProcess, ports: Ports, login: Omit<NatsConnection, "servers">): NatsServer {
  const url = `nats://127.0.0.1:${ports.client}`;
  return {
    url,
    connection: { servers: url, ...login },
    port: ports.client,
    monitoringPort: ports.monitoring,
    pid: child.pid ?? 0,
    exited: hasExited(child) ? Promise.resolve() : new Promise((resolve) => child.once("exit", () => resolve())),
    stop: () => endChild(child, "SIGTERM", stopTimeoutMs),
    kill: () => endChild(child, "SIGKILL", stopTimeoutMs),
  };
}

interface Access {
  /** For the configuration. */
  readonly access: Readonly<Record<string, unknown>>;
  /** For a client with all rights on the streams. */
  readonly connection: Omit<NatsConnection, "servers">;
}

async function accessOf(directory: string, { keys, pools = [{ pool: defaultPool }] }: NatsOptions): Promise<Access> {
  if (keys !== undefined) {
    await adoptStreams(directory, streamsAccountId(keys));
    return { access: await authentication(keys, pools, directory), connection: parseCredentials(await adminCredentials(keys)) };
  }
  const pass = await storedPassword(join(directory, "password"));
  return { access: { authorization: { users: [{ user, password: pass }] } }, connection: { user, pass } };
}

/** Renames the streams of a server without accounts, which are stored under the global account's name. */
async function adoptStreams(directory: string, account: string): Promise<void> {
  const store = join(directory, "jetstream", "jetstream");
  if (existsSync(join(store, account)) || !existsSync(join(store, "$G"))) return;
  await rename(join(store, "$G"), join(store, account));
}

/** JSON is a subset of the configuration language. */
function configuration(directory: string, options: NatsOptions, access: Readonly<Record<string, unknown>>): string {
  const lines = {
    listen: `127.0.0.1:${options.port === undefined || options.port === 0 ? -1 : options.port}`,
    ...(options.monitoringPort === undefined ? {} : { http: `127.0.0.1:${options.monitoringPort === 0 ? -1 : options.monitoringPort}` }),
    pid_file: join(directory, "nats-server.pid"),
    ports_file_dir: directory,
    log_file: join(directory, "nats-server.log"),
    logfile_size_limit: 5_000_000,
    logfile_max_num: 2,
    max_payload: 8 * 1024 * 1024,
    jetstream: {
      store_dir: join(directory, "jetstream"),
      sync_interval: options.syncInterval ?? "always",
      ...(options.maxFileStoreBytes === undefined ? {} : { max_file_store: options.maxFileStoreBytes }),
    },
    ...(options.tls === undefined ? {} : { tls: tlsBlock(options.tls) }),
    ...(options.cluster === undefined ? {} : clustered(options.cluster, options.tls)),
    ...access,
  };
  return `${Object.entries(lines)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join("\n")}\n`;
}

function tlsBlock({ certificate, key, ca, requiresClientCertificate }: NatsTls): Readonly<Record<string, unknown>> {
  return { cert_file: certificate, key_file: key, ca_file: ca, verify: requiresClientCertificate, timeout: 5 };
}

function clustered({ serverName, port, ports, password }: NatsCluster, tls: NatsTls | undefined): Readonly<Record<string, unknown>> {
  return {
    server_name: serverName,
    cluster: {
      name: "headwater",
      listen: `127.0.0.1:${port}`,
      authorization: { user, password, timeout: 5 },
      // A lost server would otherwise be sent requests for minutes.
      ping_interval: "3s",
      ping_max: 3,
      // Routes verify both servers.
      ...(tls === undefined ? {} : { tls: tlsBlock({ ...tls, requiresClientCertificate: true }) }),
      // A server authenticates routes to the others only if the password is in their URL.
      routes: ports.map((each) => `nats://${user}:${encodeURIComponent(password)}@127.0.0.1:${each}`),
    },
  };
}

/**
 * Its own session keeps a Ctrl-C from reaching the server before the roles have drained. It writes to files instead of pipes, so that it
 * survives our death until the watchdog or the next start shuts it down gracefully.
 */
function launch(binary: string, directory: string, configFile: string): ChildProcess {
  const { GOMAXPROCS: _, ...env } = process.env;
  const errors = openSync(join(directory, "nats-server.err"), "w", 0o600);
  const child = spawn(binary, ["-c", configFile], { stdio: ["ignore", errors, errors], detached: true, env });
  closeSync(errors);
  // A failed start shows as an exit without a ports file.
  child.on("error", () => undefined);
  child.unref();
  return tracked(child, "SIGTERM");
}

interface Ports {
  readonly client: number;
  readonly monitoring: number | undefined;
}

const portsFile = z.object({ nats: z.array(z.string()).default([]), monitoring: z.array(z.string()).default([]) });

/** The server writes `<name>_<pid>.ports` once it listens: no polling of a port, and no race for a free one. */
async function waitForPorts(child: ChildProcess, directory: string): Promise<Ports> {
  let ports: Ports | undefined;
  const stopped = (): boolean => child.pid === undefined || hasExited(child);
  await waitUntil(async () => {
    ports = await readPorts(directory, child.pid);
    return ports !== undefined || stopped();
  }, startTimeoutMs);
  if (ports !== undefined) return ports;
  await endChild(child, "SIGKILL", stopTimeoutMs).catch(() => undefined);
  const output = (await lastLines(join(directory, "nats-server.err"))) || (await lastLines(join(directory, "nats-server.log")));
  throw new Unavailable(`nats-server did not start in ${directory}: ${output || "no output"}`);
}

async function readPorts(directory: string, pid: number | undefined): Promise<Ports | undefined> {
  const name = (await readdir(directory)).find((entry) => entry.endsWith(`_${pid}.ports`));
  if (name === undefined) return undefined;
  const text = await readFile(join(directory, name), "utf8").catch(() => "");
  // Read an incomplete file again at the next step.
  if (!text.trimEnd().endsWith("}")) return undefined;
  const { nats, monitoring } = portsFile.parse(JSON.parse(text));
  const client = portOf(nats[0]);
  return client === undefined ? undefined : { client, monitoring: portOf(monitoring[0]) };
}

const portOf = (url: string | undefined): number | undefined => (url === undefined ? undefined : Number(new URL(url).port));

async function lastLines(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.trim().split("\n").slice(-3).join(" | ");
}

/** Shuts down a server of this data directory that outlived its parent, and removes its files. */
async function endStale(directory: string): Promise<void> {
  const pidFile = join(directory, "nats-server.pid");
  const pid = Number((await readFile(pidFile, "utf8").catch(() => "")).trim());
  if (pid > 0 && (await commandLine(pid)).includes(join(directory, "nats-server.conf"))) await endProcess(pid, "SIGTERM", stopTimeoutMs);
  const left = (await readdir(directory)).filter((entry) => entry.endsWith(".ports"));
  await Promise.all([...left.map((entry) => join(directory, entry)), pidFile].map((file) => rm(file, { force: true })));
}
