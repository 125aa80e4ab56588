import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defaultPool } from "../../../domain/subjects.ts";
import { isDatabaseRole, urlOfRole } from "../../../platform/postgres/roles.ts";
import { adminCredentials } from "../../../platform/process/nats/nats-accounts.ts";
import { storeRoleCredentials } from "../../../platform/process/nats/nats-credentials.ts";
import { natsKeysOf, natsRootFile, storedNatsRoot } from "../../../platform/process/nats/nats-keys.ts";
import { startNats } from "../../../platform/process/nats/nats-server.ts";
import { startPostgres } from "../../../platform/process/postgres/postgres.ts";
import type { RoleName } from "../../../platform/process/settings/configuration.ts";
import { until } from "../../e2e/support/headwater.ts";
import { natsBinary } from "../../support/nats/nats.ts";
import { rolePasswords } from "../../support/postgres-users.ts";
import { steadyPort } from "../../support/steady-port.ts";
import { startService, type Service } from "./service.ts";

/** In the order in which a version's processes replace those of the other one. */
const processes = ["delivery", "runner", "operator", "ingress", "api", "delivery", "builder", "ingress"] as const;

interface Running {
  readonly role: RoleName;
  readonly child: ChildProcess;
  readonly port: number;
  output: string;
}

/** Each role is a process with a user of its own, as in a cluster, and of a version: a checkout with its node_modules. */
export interface Installation {
  readonly key: string;
  readonly apiUrl: string;
  readonly ingressUrl: string;
  readonly databaseUrl: string;
  /** As `helm upgrade` does: runs setup of the version, then starts each new process before the old one is asked to stop. */
  upgradeTo(checkout: string): Promise<void>;
  /** As `helm rollback` does: setup of the version runs beside the processes that it replaces. */
  rollBackTo(checkout: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startInstallation(
  directory: string,
  checkout: string,
  settings: Readonly<Record<string, string>>,
): Promise<Installation> {
  const keysDirectory = join(directory, "keys");
  const keys = natsKeysOf(await storedNatsRoot(natsRootFile(keysDirectory)));
  await storeRoleCredentials(join(directory, "credentials"), keys, defaultPool);
  await writeFile(join(directory, "credentials", "setup.creds"), await adminCredentials(keys), { mode: 0o600 });
  await writeFile(join(keysDirectory, "database-passwords.json"), JSON.stringify(rolePasswords), { mode: 0o600 });
  const nats = await startNats({ dataDirectory: join(directory, "nats"), binary: await natsBinary(), keys });
  const postgres = await startPostgres({ dataDirectory: join(directory, "postgres") });
  const services = { api: await startService(), ingress: await startService() };
  let running: readonly Running[] = [];
  let starts = 0;

  const environment = (role: RoleName | "setup"): NodeJS.ProcessEnv => ({
    ...process.env,
    NATS_URL: nats.connection.servers,
    HEADWATER_NATS_CREDENTIALS: join(directory, "credentials", `${role}.creds`),
    DATABASE_URL: isDatabaseRole(role) ? urlOfRole(postgres.url, role, rolePasswords) : postgres.url,
    HEADWATER_KEYS: keysDirectory,
    HEADWATER_INGRESS_URL: `http://127.0.0.1:${services.ingress.port}`,
    HEADWATER_PUBLIC_URL: `http://127.0.0.1:${services.api.port}`,
    HEADWATER_EGRESS_ALLOW: "127.0.0.0/8",
    HEADWATER_LOG_LEVEL: "warn",
    HEADWATER_STOP_TIMEOUT: "25",
    ...settings,
  });
  const launch = async (version: string, role: RoleName | "setup", more: NodeJS.ProcessEnv, flags: readonly string[] = []) => {
    const data = join(directory, `data-${++starts}`);
    await mkdir(data, { recursive: true });
    const child = spawn(process.execPath, ["--no-node-snapshot", join(version, "main.ts"), ...flags], {
      cwd: version,
      env: { ...environment(role), HEADWATER_DATA: data, ...more },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const launched = { child, output: "" };
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (launched.output += chunk.toString()));
    return launched;
  };
  const setUp = async (version: string): Promise<void> => {
    const setup = await launch(version, "setup", { HEADWATER_ROLES: "setup" }, ["--setup"]);
    const [code] = (await once(setup.child, "exit")) as [number | null];
    if (code !== 0) throw new Error(`setup of ${version} ended with ${code}:\n${setup.output}`);
  };
  const start = async (version: string, role: RoleName): Promise<Running> => {
    const [port, health] = [await steadyPort(), `127.0.0.1:${await steadyPort()}`];
    const launched = await launch(version, role, {
      HEADWATER_ROLES: role,
      HEADWATER_HEALTH_LISTEN: health,
      HEADWATER_LISTEN: `127.0.0.1:${port}`,
      HEADWATER_INGRESS_LISTEN: `127.0.0.1:${port}`,
    });
    const isReady = (): Promise<boolean> =>
      fetch(`http://${health}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    const hasEnded = (): boolean => launched.child.exitCode !== null;
    await until(
      async () => hasEnded() || (await isReady()),
      `${role} of ${version} is ready`,
      () => launched.output,
    );
    if (hasEnded()) throw new Error(`${role} of ${version} ended:\n${launched.output}`);
    serviceOf(role)?.add(port);
    return Object.assign(launched, { role, port });
  };
  const serviceOf = (role: RoleName): Service | undefined => (role === "api" || role === "ingress" ? services[role] : undefined);
  const stop = async ({ role, child, port }: Running): Promise<void> => {
    serviceOf(role)?.remove(port);
    child.kill("SIGTERM");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  };
  const replaceAll = async (version: string): Promise<void> => {
    const before = running;
    running = [];
    for (const [index, role] of processes.entries()) {
      const old = before[index];
      // Without Kubernetes no lease elects one of two operators.
      if (role === "operator" && old !== undefined) await stop(old);
      running = [...running, await start(version, role)];
      if (role !== "operator" && old !== undefined) await stop(old);
    }
  };

  await setUp(checkout);
  await replaceAll(checkout);
  return {
    key: (await readFile(join(keysDirectory, "api-key"), "utf8")).trim(),
    apiUrl: `http://127.0.0.1:${services.api.port}/v1`,
    ingressUrl: `http://127.0.0.1:${services.ingress.port}`,
    databaseUrl: postgres.url,
    upgradeTo: async (version) => {
      await setUp(version);
      await replaceAll(version);
    },
    rollBackTo: async (version) => {
      await Promise.all([setUp(version), replaceAll(version)]);
    },
    stop: async () => {
      await Promise.all(running.map(stop));
      for (const service of Object.values(services)) service.stop();
      await nats.stop();
      await postgres.stop();
    },
  };
}
