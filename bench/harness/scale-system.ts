import type { RoleName } from "../../platform/process/settings/configuration.ts";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type Connection } from "../../platform/jetstream/connection/connection.ts";
import { freePort } from "../../platform/process/free-port.ts";
import { formatNatsUrl } from "../../platform/process/nats/nats-connection.ts";
import { startNats } from "../../platform/process/nats/nats-server.ts";
import { startPostgres } from "../../platform/process/postgres/postgres.ts";
import { KubeApiClient, kubeconfigOf } from "../../test/support/kube/kube-api-client.ts";
import { startKubeApiServer } from "../../test/support/kube/kube-api-server.ts";
import { findKubeAssets } from "../../test/support/kube/kube-assets.ts";
import { installCrds } from "../../test/support/kube/kube-crds.ts";
import { owner } from "./load/kube-sources.ts";
import { cpuOf, type Part, type ProcessUse } from "./measure/process-tree.ts";
import { runToEnd, startRole, type RoleProcess } from "./role-process.ts";

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

export async function startScaleSystem(): Promise<ScaleSystem> {
  const started = new AsyncDisposableStack();
  try {
    return await startIn(started);
  } catch (error) {
    await started.disposeAsync();
    throw error;
  }
}

/** @param started stops in reverse order what has started */
async function startIn(started: AsyncDisposableStack): Promise<ScaleSystem> {
  const assets = findKubeAssets();
  if (assets === undefined) throw new Error("kube-apiserver and etcd were not found: name their folder in KUBEBUILDER_ASSETS");
  const directory = await mkdtemp(join(tmpdir(), "headwater-bench-"));
  started.defer(() => rm(directory, { recursive: true, force: true }));
  const stopped = async <T extends { stop(): Promise<unknown> }>(starting: Promise<T>): Promise<T> =>
    started.adopt(await starting, async (server) => void (await server.stop()));
  const kube = await stopped(startKubeApiServer(assets));
  const nats = await stopped(startNats({ dataDirectory: join(directory, "nats"), syncInterval: "always" }));
  const postgres = await stopped(startPostgres({ dataDirectory: join(directory, "postgres") }));
  const client = started.adopt(new KubeApiClient(kube.access), (each) => each.close());
  const keys = join(directory, "keys");
  const kubeconfig = join(directory, "kubeconfig");
  await mkdir(keys, { mode: 0o700 });
  await writeFile(kubeconfig, kubeconfigOf(kube.access), { mode: 0o600 });
  const env = {
    HEADWATER_RESOURCES: "kubernetes",
    HEADWATER_OWNER_ID: owner,
    HEADWATER_DATA: directory,
    HEADWATER_KEYS: keys,
    KUBECONFIG: kubeconfig,
    NATS_URL: formatNatsUrl(nats.connection),
    DATABASE_URL: postgres.url,
  };
  await installCrds(client);
  await runToEnd({ ...env, HEADWATER_ROLES: "setup" });
  const connection = started.adopt(await connect({ server: nats.connection, name: "bench" }), (each) => each.close());
  const start = (role: RoleName, settings: Readonly<Record<string, string>>): Promise<RoleProcess> => stopped(startRole(role, settings));
  return {
    client,
    etcdUrl: kube.access.etcdUrl,
    connection,
    startOperator: () => start("operator", { ...env, NODE_OPTIONS: operatorOptions }),
    startApi: async () => {
      const listen = `127.0.0.1:${await freePort()}`;
      const api = await start("api", { ...env, HEADWATER_LISTEN: listen });
      return { api, url: `http://${listen}`, key: (await readFile(join(keys, "api-key"), "utf8")).trim() };
    },
    cpu: () => cpuOf([process.pid]).map((use) => ({ ...use, part: use.part === "other" ? otherPart(use.pid, kube.pids) : use.part })),
    stop: () => started.disposeAsync(),
  };
}

/** As in a pod of the chart, whose memory limit bounds the heap too: without a bound it grows before garbage is collected. */
const operatorOptions = "--max-semi-space-size=4 --max-old-space-size=384";

function otherPart(pid: number, [kubeApiServer, etcd]: readonly number[]): Part {
  if (pid === kubeApiServer) return "kube-apiserver";
  if (pid === etcd) return "etcd";
  return pid === process.pid ? "load" : "other";
}
