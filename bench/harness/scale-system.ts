import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect, type Connection } from "../../platform/jetstream/connection/connection.ts";
import { freePort } from "../../platform/process/free-port.ts";
import type { RoleName } from "../../platform/process/settings/configuration.ts";
import { setUp } from "../../platform/process/settings/environment.ts";
import { KubeApiClient, kubeconfigOf } from "../../test/support/kube/kube-api-client.ts";
import { startKubeApiServer } from "../../test/support/kube/kube-api-server.ts";
import { findKubeAssets } from "../../test/support/kube/kube-assets.ts";
import { installCrds } from "../../test/support/kube/kube-crds.ts";
import { cpuOf, type Part, type ProcessUse } from "../../test/support/process-tree.ts";
import { runMain, startMain, type MainProcess } from "../../test/support/system/main-process.ts";
import { startServers } from "../../test/support/system/servers.ts";
import { until } from "../../test/support/until.ts";
import { owner } from "./load/kube-sources.ts";
import { showWarnings, stopsAtEnd } from "./system.ts";

/** kube-apiserver with etcd, NATS and Postgres, installed as in a cluster. Roles are started one by one. */
export interface ScaleSystem {
  readonly client: KubeApiClient;
  readonly etcdUrl: string;
  /** The bench's own connection, to write entries. */
  readonly connection: Connection;
  startOperator(): Promise<RoleProcess>;
  startApi(): Promise<{ readonly api: RoleProcess; readonly url: string; readonly key: string }>;
  cpu(): readonly ProcessUse[];
  stop(): Promise<void>;
}

/** One role in a process of its own. */
export interface RoleProcess extends MainProcess {
  /** From the start of the process until its probe reported that it is ready. */
  readonly readyMs: number;
  /** Resolves when the condition on the process's metrics holds. @returns ms since the process was started */
  until(isDone: (metrics: Metrics) => boolean): Promise<number>;
}

/** The value of the metric with these labels, as Prometheus' text shows it; NaN if it is absent. */
export type Metrics = (nameAndLabels: string) => number;

const maxWaitMs = 3_600_000;

export const startScaleSystem = (): Promise<ScaleSystem> =>
  stopsAtEnd(async (started, directory) => {
    const assets = findKubeAssets();
    if (assets === undefined) throw new Error("kube-apiserver and etcd were not found: name their folder in KUBEBUILDER_ASSETS");
    const kube = started.adopt(await startKubeApiServer(assets), (each) => each.stop());
    const servers = started.adopt(await startServers(directory, { hasUsers: false }), (each) => each.stop());
    const client = started.adopt(new KubeApiClient(kube.access), (each) => each.close());
    const keys = join(directory, "keys");
    const kubeconfig = join(directory, "kubeconfig");
    await mkdir(keys, { mode: 0o700 });
    await writeFile(kubeconfig, kubeconfigOf(kube.access), { mode: 0o600 });
    const env = {
      ...servers.settingsOf("admin"),
      HEADWATER_RESOURCES: "kubernetes",
      HEADWATER_OWNER_ID: owner,
      HEADWATER_DATA: directory,
      HEADWATER_KEYS: keys,
      KUBECONFIG: kubeconfig,
    };
    await installCrds(client);
    await runMain({ env: { ...env, HEADWATER_ROLES: setUp } });
    const connection = started.adopt(await connect({ server: servers.nats.connection(), name: "bench" }), (each) => each.close());
    const start = async (role: RoleName, settings: Readonly<Record<string, string>> = {}): Promise<RoleProcess> =>
      started.adopt(await startRole(role, { ...env, ...settings }), (each) => each.end("SIGTERM"));
    return {
      client,
      etcdUrl: kube.access.etcdUrl,
      connection,
      startOperator: () => start("operator"),
      startApi: async () => {
        const listen = `127.0.0.1:${await freePort()}`;
        const api = await start("api", { HEADWATER_LISTEN: listen });
        return { api, url: `http://${listen}`, key: (await readFile(join(keys, "api-key"), "utf8")).trim() };
      },
      cpu: () => cpuOf([process.pid]).map((use) => ({ ...use, part: use.part === "other" ? otherPart(use.pid, kube.pids) : use.part })),
    };
  });

/** As in a pod of the operator, whose memory limit bounds the heap too: without a bound it grows before garbage is collected. */
const flags = ["--no-node-snapshot", "--max-semi-space-size=4", "--max-old-space-size=384"];

/** Resolves when the process is ready. */
async function startRole(role: RoleName, settings: Readonly<Record<string, string>>): Promise<RoleProcess> {
  const health = `127.0.0.1:${await freePort()}`;
  const startedAt = performance.now();
  const env = { ...settings, HEADWATER_ROLES: role, HEADWATER_HEALTH_LISTEN: health };
  const main = await startMain({ env, onOutput: showWarnings, ...(role === "operator" ? { flags } : {}) });
  return {
    ...main,
    readyMs: performance.now() - startedAt,
    until: async (isDone) => {
      const isAtRest = async (): Promise<boolean> => isDone(await metricsOf(health));
      await until(isAtRest, `the role ${role} comes to rest`, { more: main.output, maxWaitMs, firstPauseMs: 100, maxPauseMs: 100 });
      return performance.now() - startedAt;
    },
  };
}

/** @throws when the process has ended */
async function metricsOf(address: string): Promise<Metrics> {
  const text = await (await fetch(`http://${address}/metrics`)).text();
  const values = new Map(text.split("\n").map((line) => [line.slice(0, line.lastIndexOf(" ")), line.slice(line.lastIndexOf(" ") + 1)]));
  return (nameAndLabels) => Number(values.get(nameAndLabels));
}

function otherPart(pid: number, [kubeApiServer, etcd]: readonly number[]): Part {
  if (pid === kubeApiServer) return "kube-apiserver";
  if (pid === etcd) return "etcd";
  return pid === process.pid ? "load" : "other";
}
