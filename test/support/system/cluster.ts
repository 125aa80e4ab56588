import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { streams } from "../../../domain/subjects.ts";
import { connect, type Connection } from "../../../platform/jetstream/connection/connection.ts";
import { deliveryBacklog } from "../../../platform/jetstream/deliveries/delivery-backlog.ts";
import { createDatabase } from "../../../platform/postgres/connection.ts";
import { migrate } from "../../../platform/postgres/migrations/migrations.ts";
import { setUpRoles } from "../../../platform/postgres/roles.ts";
import type { NatsConnection } from "../../../platform/process/nats/nats-connection.ts";
import type { RoleName } from "../../../platform/process/settings/configuration.ts";
import { rolePasswords } from "../postgres-users.ts";
import { partOf, processTree } from "../process-tree.ts";
import { steadyPort } from "../steady-port.ts";
import { until } from "../until.ts";
import { clientOf, type Client } from "./client.ts";
import { runMain, startMain, type MainProcess } from "./main-process.ts";
import { startServers, type ServerName } from "./servers.ts";

type Backlog = Awaited<ReturnType<typeof deliveryBacklog>>;
export type Target = RoleName | "sandbox" | ServerName;

export interface ClusterOptions {
  /** Path of a kubeconfig; with it, resources are stored in that cluster. */
  readonly kubeconfig?: string;
  /** Additional settings of every role. */
  readonly env?: Readonly<Record<string, string>>;
  /** Additional settings of one role. With HEADWATER_HEALTH_LISTEN the role runs without a parent, and has started when `/readyz` is 200. */
  readonly envOf?: Partial<Record<RoleName, Readonly<Record<string, string>>>>;
}

/** A killed role is started again until this time has passed: its servers may be down when it starts. */
const returnTimeoutMs = 120_000;

/** Each role is a process, as in a cluster, with two processes of delivery. A killed process is started again. */
export interface Cluster extends Client {
  /** Kills a process with kill -9, alternating between those of delivery. Resolves when it runs again. */
  kill(target: Target): Promise<void>;
  /** Kills a server with kill -9. The returned function starts it again, on the same data and port. */
  takeAway(server: ServerName): Promise<() => Promise<void>>;
  /** Kills one of several NATS servers with kill -9, and starts it again without its volume. */
  loseVolume(): Promise<void>;
  /** Makes streams, consumers and the NATS cluster elect new leaders. */
  changeLeaders(): Promise<void>;
  /** The backlog of deliveries; undefined while NATS does not answer. */
  backlog(): Promise<Backlog | undefined>;
  /** The content of the stream of deliveries, for error messages: the number of each kind, the oldest messages, and the output of the delivery role. */
  leftDeliveries(): Promise<string>;
  /** Number of committed runs: all messages that the stream of runs has ever had. */
  commits(): Promise<number>;
  /** Suspends the process for that time, like a suspended machine or a slow disk. */
  stall(target: RoleName | "nats", ms: number): Promise<void>;
  /** Starts a second runner. The returned functions end it gracefully or with kill -9. */
  addRunner(): Promise<{ stop(): Promise<void>; kill(): Promise<void> }>;
  stop(): Promise<void>;
}

const secondDelivery = "second delivery";
type ProcessName = RoleName | typeof secondDelivery;

export async function startCluster(directory: string, { kubeconfig, env: more = {}, envOf = {} }: ClusterOptions = {}): Promise<Cluster> {
  const servers = await startServers(directory, { hasUsers: true });
  const ports = { api: await steadyPort(), ingress: await steadyPort() };
  const env = {
    HEADWATER_DATA: directory,
    HEADWATER_LISTEN: `127.0.0.1:${ports.api}`,
    HEADWATER_INGRESS_LISTEN: `127.0.0.1:${ports.ingress}`,
    HEADWATER_KEEP_EVENTS: "100000",
    HEADWATER_DELIVERY_RETRY: "500ms,1s,2s,4s,8s,16s",
    ...(kubeconfig === undefined ? {} : { HEADWATER_RESOURCES: "kubernetes", KUBECONFIG: kubeconfig }),
    ...more,
  };
  const settingsOf = (role: RoleName | "admin") => ({ ...env, ...servers.settingsOf(role) });
  // Migrates as the chart's Job does, twice at once.
  const setUp = (): Promise<void> => runMain({ env: settingsOf("admin"), args: ["--setup"] });
  if (kubeconfig !== undefined) await Promise.all([setUp(), setUp()]);
  await prepareRoles(servers.databaseUrl);
  const roles = new Map<ProcessName, MainProcess>();
  const startProcess = (name: RoleName): Promise<MainProcess> =>
    startMain({ env: { ...settingsOf(name), ...envOf[name], HEADWATER_ROLES: name } });
  const startRole = async (name: ProcessName): Promise<void> =>
    void roles.set(name, await startProcess(name === secondDelivery ? "delivery" : name));
  try {
    for (const name of ["operator", "delivery", "api", "ingress", "builder", "runner"] as const) await startRole(name);
    // Both would listen on the same address.
    if (envOf.delivery?.["HEADWATER_HEALTH_LISTEN"] === undefined) await startRole(secondDelivery);
  } catch (error) {
    await Promise.all([...roles.values()].map((role) => role.end("SIGKILL")));
    await servers.stop();
    throw error;
  }
  const key = readFileSync(join(directory, kubeconfig === undefined ? "api-key" : "keys/api-key"), "utf8").trim();

  let deliveryTurns = 0;
  const processOf = (target: RoleName): ProcessName =>
    target === "delivery" && roles.has(secondDelivery) && deliveryTurns++ % 2 === 1 ? secondDelivery : target;

  async function killRole(name: ProcessName): Promise<void> {
    const role = roles.get(name);
    if (role === undefined) throw new Error(`${name} does not run`);
    await role.end("SIGKILL");
    for (const deadline = performance.now() + returnTimeoutMs; ;) {
      try {
        return await startRole(name);
      } catch (error) {
        if (performance.now() > deadline) throw error;
      }
    }
  }

  return {
    ...clientOf(`http://127.0.0.1:${ports.api}/v1`, `http://127.0.0.1:${ports.ingress}`, key),
    kill: async (target) => {
      if (target === "nats" || target === "postgres") return (await servers.takeAway(target))();
      if (target === "sandbox") return killSandboxChild(roles.get("runner")?.pid ?? 0);
      return killRole(processOf(target));
    },
    takeAway: (server) => servers.takeAway(server),
    loseVolume: async () => (await servers.nats.takeAway({ losesDisk: true }))(),
    changeLeaders: () => servers.nats.changeLeaders(),
    backlog: () => backlogOf(servers.nats.connection()),
    leftDeliveries: async () => {
      const outputs = (["delivery", secondDelivery] as const).map((name) => roles.get(name)?.output().slice(-4_000));
      return [await leftDeliveriesOf(servers.nats.connection()), ...outputs].join("\n");
    },
    commits: async () => {
      const commits = await asking(
        servers.nats.connection(),
        async ({ manager }) => (await manager.streams.info(streams.runs)).state.last_seq,
      );
      if (commits === undefined) throw new Error("NATS does not report how many runs were committed");
      return commits;
    },
    stall: async (target, ms) => {
      const pid = target === "nats" ? servers.nats.pid() : roles.get(processOf(target))?.pid;
      if (pid === undefined) throw new Error(`${target} does not run`);
      process.kill(pid, "SIGSTOP");
      await sleep(ms);
      process.kill(pid, "SIGCONT");
    },
    addRunner: async () => {
      const runner = await startProcess("runner");
      return { stop: () => runner.end("SIGTERM"), kill: () => runner.end("SIGKILL") };
    },
    stop: async () => {
      await Promise.all([...roles.values()].map((role) => role.end("SIGTERM")));
      await servers.stop();
    },
  };
}

/** Makes the tables and the roles' users. */
async function prepareRoles(url: string): Promise<void> {
  const { db, close } = createDatabase({ url });
  try {
    await migrate(db);
    await setUpRoles(db, rolePasswords);
  } finally {
    await close();
  }
}

const backlogOf = (server: NatsConnection): Promise<Backlog | undefined> =>
  asking(server, (connection) => deliveryBacklog(connection, "delivery"));

async function asking<T>(server: NatsConnection, ask: (connection: Connection) => Promise<T>): Promise<T | undefined> {
  try {
    const connection = await connect({ server, name: "test" });
    try {
      return await ask(connection);
    } finally {
      await connection.close();
    }
  } catch {
    return undefined; // NATS is starting, or the delivery role has not created its consumer yet.
  }
}

async function leftDeliveriesOf(server: NatsConnection): Promise<string> {
  const connection = await connect({ server, name: "test" });
  try {
    const { streams: stored, consumers, direct } = connection.manager;
    const { state } = await stored.info(streams.deliveries, { subjects_filter: ">" });
    const subjects = Object.keys(state.subjects ?? {});
    const kinds = Object.entries(Object.groupBy(subjects, (subject) => subject.split(".")[0] ?? "")).map(
      ([kind, all]) => `${kind}: ${all?.length}`,
    );
    const due = await consumers.info(streams.deliveries, "delivery");
    const oldest = await Promise.all(
      subjects.slice(0, 5).map(async (subject) => {
        const message = await direct.getMessage(streams.deliveries, { last_by_subj: subject });
        const headers = [...(message?.header ?? [])].map(([name, values]) => `${name}: ${values.join()}`);
        return `${message?.seq} ${message?.time.toISOString()} ${subject} ${headers.join("; ")} ${message?.string().slice(0, 300)}`;
      }),
    );
    const { num_pending, num_ack_pending, delivered, ack_floor } = due;
    return [new Date().toISOString(), kinds.join(), JSON.stringify({ num_pending, num_ack_pending, delivered, ack_floor }), ...oldest].join(
      "\n",
    );
  } finally {
    await connection.close();
  }
}

/** Kills one sandbox process, and waits until it has ended and its runner has one. It may have been one too many, which is not started again. */
async function killSandboxChild(runner: number): Promise<void> {
  const children = () => processTree([runner]).filter((pid) => partOf(pid) === "sandbox");
  const [victim] = children();
  if (victim === undefined) throw new Error(`runner ${runner} has no children`);
  process.kill(victim, "SIGKILL");
  await until(() => children().some((pid) => pid !== victim) && !children().includes(victim), "the runner has another child");
}
