import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { z } from "zod";
import { Unavailable } from "../../domain/errors.ts";
import { defaultPool } from "../../domain/subjects.ts";
import { findNatsServer } from "./find-nats-server.ts";
import { adminCredentials, streamsAccountId, type Pool } from "./nats-accounts.ts";
import { authentication } from "./nats-configuration.ts";
import { parseCredentials, type NatsConnection } from "./nats-connection.ts";
import type { NatsKeys } from "./nats-keys.ts";
import { owned } from "./own-children.ts";
import { keptPassword } from "./password.ts";
import { commandLine, endChild, endProcess, eventually, hasExited } from "./processes.ts";

export { findNatsServer } from "./find-nats-server.ts";

export interface NatsOptions {
  /** Holds everything the server writes, its configuration and its password. */
  readonly dataDirectory: string;
  /** 0 or absent: the server picks a free one. */
  readonly port?: number;
  /** HTTP monitoring (`/healthz`, `/jsz`) on 127.0.0.1; 0: any free port; absent: none. */
  readonly monitoringPort?: number;
  /** `always` syncs every message before it is acknowledged; an interval loses that much on a power failure. */
  readonly syncInterval?: "always" | "100ms";
  /** What streams may take of the disk; absent: three quarters of what is free when the server starts. */
  readonly maxFileStoreBytes?: number;
  /** With these keys the server knows accounts and roles (see nats-accounts.ts), else one user who may do everything. */
  readonly keys?: NatsKeys;
  /** Pools known from the start; the default one when absent. */
  readonly pools?: readonly Pool[];
  /** One of several that keep streams together; absent: it is alone. */
  readonly cluster?: NatsCluster;
  /** Path of nats-server; what `findNatsServer()` finds when absent. */
  readonly binary?: string;
}

/** As the chart configures its servers. */
interface NatsCluster {
  /** Of this server, another one than that of the others; its copies of streams go by it. */
  readonly serverName: string;
  readonly port: number;
  /** Ports of all servers, on 127.0.0.1. */
  readonly ports: readonly number[];
  /** By which they know each other. */
  readonly password: string;
}

export interface NatsServer {
  /** nats://127.0.0.1:port, without credentials. */
  readonly url: string;
  /** Address and credentials; spread it into `connect`. */
  readonly connection: NatsConnection;
  readonly port: number;
  readonly monitoringPort: number | undefined;
  readonly pid: number;
  /** Resolves when the process ends, for whatever reason. */
  readonly exited: Promise<void>;
  /** Ends the server in good order. */
  stop(): Promise<void>;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
}

const user = "headwater";
const startTimeoutMs = 20_000;
const stopTimeoutMs = 4_000;

/** Starts a JetStream server on 127.0.0.1 and resolves when it accepts connections. */
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
  /** For a client that may do everything with the streams. */
  readonly connection: Omit<NatsConnection, "servers">;
}

async function accessOf(directory: string, { keys, pools = [{ pool: defaultPool }] }: NatsOptions): Promise<Access> {
  if (keys !== undefined) {
    await adoptStreams(directory, streamsAccountId(keys));
    return { access: await authentication(keys, pools, directory), connection: parseCredentials(await adminCredentials(keys)) };
  }
  const pass = await keptPassword(join(directory, "password"));
  return { access: { authorization: { users: [{ user, password: pass }] } }, connection: { user, pass } };
}

/** What was written before there were accounts lies under the name of the one that everybody was in. */
async function adoptStreams(directory: string, account: string): Promise<void> {
  const store = join(directory, "jetstream", "jetstream");
  if (existsSync(join(store, account)) || !existsSync(join(store, "$G"))) return;
  await rename(join(store, "$G"), join(store, account));
}

/** JSON is a subset of the configuration language, so values are quoted by JSON.stringify. */
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
    ...(options.cluster === undefined ? {} : clustered(options.cluster)),
    ...access,
  };
  return `${Object.entries(lines)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join("\n")}\n`;
}

function clustered({ serverName, port, ports, password }: NatsCluster): Readonly<Record<string, unknown>> {
  return {
    server_name: serverName,
    cluster: {
      name: "headwater",
      listen: `127.0.0.1:${port}`,
      authorization: { user, password, timeout: 5 },
      // Who is dialled asks for the password, and it is told only where it is part of the address.
      routes: ports.map((each) => `nats://${user}:${encodeURIComponent(password)}@127.0.0.1:${each}`),
    },
  };
}

/**
 * Its own session keeps a Ctrl-C on the terminal from reaching the server before the roles have drained. It writes to files instead of
 * pipes, so that it survives our death until the watchdog, or the next start, ends it gracefully.
 */
function launch(binary: string, directory: string, configFile: string): ChildProcess {
  const { GOMAXPROCS: _, ...env } = process.env;
  const errors = openSync(join(directory, "nats-server.err"), "w", 0o600);
  const child = spawn(binary, ["-c", configFile], { stdio: ["ignore", errors, errors], detached: true, env });
  closeSync(errors);
  // A failure to start shows as an exit without a ports file.
  child.on("error", () => undefined);
  child.unref();
  return owned(child, "SIGTERM");
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
  await eventually(async () => {
    ports = await readPorts(directory, child.pid);
    return ports !== undefined || stopped();
  }, startTimeoutMs);
  if (ports !== undefined) return ports;
  await endChild(child, "SIGKILL", stopTimeoutMs).catch(() => undefined);
  const said = (await lastLines(join(directory, "nats-server.err"))) || (await lastLines(join(directory, "nats-server.log")));
  throw new Unavailable(`nats-server did not start in ${directory}: ${said || "it said nothing"}`);
}

async function readPorts(directory: string, pid: number | undefined): Promise<Ports | undefined> {
  const name = (await readdir(directory)).find((entry) => entry.endsWith(`_${pid}.ports`));
  if (name === undefined) return undefined;
  const text = await readFile(join(directory, name), "utf8").catch(() => "");
  // An empty or half-written file is read again at the next step.
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

/** Ends a server of this data directory that outlived its parent, and removes what it left behind. */
async function endStale(directory: string): Promise<void> {
  const pidFile = join(directory, "nats-server.pid");
  const pid = Number((await readFile(pidFile, "utf8").catch(() => "")).trim());
  if (pid > 0 && (await commandLine(pid)).includes(join(directory, "nats-server.conf"))) await endProcess(pid, "SIGTERM", stopTimeoutMs);
  const left = (await readdir(directory)).filter((entry) => entry.endsWith(".ports"));
  await Promise.all([...left.map((entry) => join(directory, entry)), pidFile].map((file) => rm(file, { force: true })));
}
