import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RoleName } from "../../../platform/process/settings/configuration.ts";
import { rolePasswords } from "../../support/postgres-users.ts";
import { steadyPort } from "../../support/steady-port.ts";
import { runMain, startMain, type MainProcess } from "../../support/system/main-process.ts";
import { startServers } from "../../support/system/servers.ts";
import { startService, type Service } from "./service.ts";

/** In the order in which a version's processes replace those of the other one. */
const processes = ["delivery", "runner", "operator", "ingress", "api", "delivery", "builder", "ingress"] as const;

interface Running {
  readonly role: RoleName;
  readonly main: MainProcess;
  readonly port: number;
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
  const servers = await startServers(directory, { hasUsers: true });
  const keysDirectory = join(directory, "keys");
  await writeFile(join(keysDirectory, "database-passwords.json"), JSON.stringify(rolePasswords), { mode: 0o600 });
  const services = { api: await startService(), ingress: await startService() };
  let running: readonly Running[] = [];
  let starts = 0;

  const environment = async (role: RoleName | "admin"): Promise<Readonly<Record<string, string>>> => {
    const data = join(directory, `data-${++starts}`);
    await mkdir(data, { recursive: true });
    return {
      ...servers.settingsOf(role),
      HEADWATER_DATA: data,
      HEADWATER_KEYS: keysDirectory,
      HEADWATER_INGRESS_URL: `http://127.0.0.1:${services.ingress.port}`,
      HEADWATER_PUBLIC_URL: `http://127.0.0.1:${services.api.port}`,
      HEADWATER_STOP_TIMEOUT: "25",
      ...settings,
    };
  };
  const setUp = async (version: string): Promise<void> => {
    const env = { ...(await environment("admin")), HEADWATER_ROLES: "setup" };
    await runMain({ checkout: version, env, args: ["--setup"] });
  };
  const start = async (version: string, role: RoleName): Promise<Running> => {
    const port = await steadyPort();
    const listen = {
      HEADWATER_HEALTH_LISTEN: `127.0.0.1:${await steadyPort()}`,
      HEADWATER_LISTEN: `127.0.0.1:${port}`,
      HEADWATER_INGRESS_LISTEN: `127.0.0.1:${port}`,
    };
    const main = await startMain({ checkout: version, env: { ...(await environment(role)), ...listen, HEADWATER_ROLES: role } });
    serviceOf(role)?.add(port);
    return { role, main, port };
  };
  const serviceOf = (role: RoleName): Service | undefined => (role === "api" || role === "ingress" ? services[role] : undefined);
  const stop = async ({ role, main, port }: Running): Promise<void> => {
    serviceOf(role)?.remove(port);
    await main.end("SIGTERM");
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
    databaseUrl: servers.databaseUrl,
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
      await servers.stop();
    },
  };
}
