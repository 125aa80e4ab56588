import { createHash, randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { defaultApiConfig } from "../../../api/config.ts";
import { startApi, type StartedApi } from "../../../api/start.ts";
import { componentKind } from "../../../crds/component.ts";
import type { Kind, Resource } from "../../../crds/resource.ts";
import type { ResourceStore } from "../../../crds/resource-store.ts";
import { sourceKind } from "../../../crds/source.ts";
import { subscriptionKind } from "../../../crds/subscription.ts";
import { webhookKind } from "../../../crds/webhook.ts";
import { systemClock } from "../../../domain/clock.ts";
import { NotFound, Unavailable } from "../../../domain/errors.ts";
import { Informer } from "../../../operator/controller/informer.ts";
import { Mirror } from "../../../operator/mirror/mirror.ts";
import type { MirrorRows } from "../../../operator/mirror/rows.ts";
import { createBoundedServer } from "../../../platform/http/bounded-server.ts";
import { RequestBodies } from "../../../platform/http/request-bodies.ts";
import { connectKubernetes, type Kubernetes } from "../../../platform/kubernetes/access/connection.ts";
import { readKubeconfig } from "../../../platform/kubernetes/access/kubeconfig.ts";
import { startKubernetesOwnerNamespaces, type KubernetesOwnerNamespaces } from "../../../platform/kubernetes/owners/owner-namespaces.ts";
import { createKubernetesResourceStore } from "../../../platform/kubernetes/resources/resource-store.ts";
import { createKubernetesSecretValues } from "../../../platform/kubernetes/secret-values.ts";
import { createAccounts } from "../../../platform/postgres/accounts/index.ts";
import { createDatabase, type Database } from "../../../platform/postgres/connection.ts";
import { createDeliveryRecords } from "../../../platform/postgres/history/deliveries.ts";
import { createHistory } from "../../../platform/postgres/history/index.ts";
import { createMirroredStore } from "../../../platform/postgres/resources/mirrored-store.ts";
import { createResourceMirror } from "../../../platform/postgres/resources/resource-mirror.ts";
import { createSessions } from "../../../platform/postgres/accounts/sessions.ts";
import { createAuditLog } from "../../../platform/postgres/audit/audit-log.ts";
import { createOutcomes } from "../../../platform/postgres/history/outcomes.ts";
import { createMeasures } from "../../../platform/postgres/measures/read.ts";
import { createDiskSamples } from "../../../platform/postgres/storage/disk-samples.ts";
import { createActivity } from "../../../platform/postgres/history/activity.ts";
import { createTraceRecords } from "../../../platform/postgres/history/traces/traces.ts";
import { createSearchRecords } from "../../../platform/postgres/search/search.ts";
import { createStoredUse } from "../../../platform/postgres/resources/stored-use.ts";
import { createConnections } from "../../../platform/postgres/connections/connections.ts";
import { createComponentLibrary } from "../../../platform/postgres/component-library.ts";
import { createDataStores } from "../../../platform/postgres/data-stores/data-stores.ts";
import { createRegisteredStores } from "../../../platform/postgres/data-stores/registered-stores.ts";
import { createPublications } from "../../../platform/postgres/publications/publications.ts";
import { createResourcePages } from "../../../platform/postgres/resources/resource-pages.ts";
import type { KubeApi } from "../../support/kube/kube-api.ts";
import type { TestPostgres } from "../../support/postgres.ts";
import { ofNamespaces } from "./support.ts";
import { fakeBuild } from "../api/fake-builds.ts";
import { startFakeOperator } from "../api/fake-operator.ts";

export const mirroredKinds: readonly Kind[] = [componentKind, sourceKind, subscriptionKind, webhookKind];
const key = "key-of-ada";
export const ada = { id: "u_ada", username: "ada", email: "ada@example.com" };
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** The API on a real cluster with a real mirror, an operator of the tests, and mirroring operators that can be killed. */
export interface Doors {
  readonly cluster: ResourceStore;
  readonly database: Database;
  /** Ada's namespace. */
  readonly namespace: string;
  ask(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: unknown }>;
  /** Starts to mirror; `kill` waits for no operation in progress. */
  startMirroring(rows?: MirrorRows): Promise<{ readonly mirror: Mirror; kill(): void }>;
  readonly rows: MirrorRows;
  inCluster(): Promise<readonly Resource[]>;
  inMirror(): Promise<readonly Resource[]>;
  stop(): Promise<void>;
}

export async function openDoors(kube: KubeApi, postgres: TestPostgres): Promise<Doors> {
  const [database, apiDatabase] = [createDatabase({ url: postgres.urlOf("operator") }), createDatabase({ url: postgres.urlOf("api") })];
  const kubernetes = await connectKubernetes({ access: await readKubeconfig(kube.kubeconfigPath) });
  const cluster = ofNamespaces(createKubernetesResourceStore(kubernetes), (name) => name === namespace || kube.isOwn(name));
  const owners = startKubernetesOwnerNamespaces(kubernetes);
  const rows = createResourceMirror(database);
  const pages = createResourcePages(database);
  const namespace = await owners.ensure(ada.id);
  const operator = await startFakeOperator(cluster);
  const api = await startTestApi({ kubernetes, cluster, owners, database: apiDatabase });
  const killed: Promise<void>[] = [];
  return {
    cluster,
    database,
    namespace,
    rows,
    ask: (method, path, body) => request(`http://127.0.0.1:${api.address.port}/v1${path}`, method, body),
    startMirroring: async (given = rows) => {
      const mirror = new Mirror({ store: cluster, rows: given, clock: systemClock, log: silent });
      const informers = mirroredKinds.map((kind) => new Informer(cluster, kind, { onError: () => undefined }));
      for (const informer of informers) mirror.watch(informer);
      await Promise.all(informers.map((informer) => informer.start()));
      const stop = new AbortController();
      killed.push(mirror.lead(stop.signal));
      return {
        mirror,
        kill: () => {
          stop.abort();
          killed.push(...informers.map((informer) => informer.stop()));
        },
      };
    },
    inCluster: () => everything((kind) => all(cluster, kind)),
    inMirror: () =>
      everything(async (kind) => (await pages.listPage(kind, { namespace }, { limit: 10_000, cursor: null })).items).then((found) => found),
    stop: async () => {
      await api.stop(AbortSignal.timeout(2_000));
      await operator.stop();
      await Promise.all(killed);
      await owners.close();
      await kubernetes.close();
      await Promise.all([database.close(), apiDatabase.close()]);
    },
  };

  async function all(store: ResourceStore, kind: Kind): Promise<readonly Resource[]> {
    return (await store.list(kind, { namespace })).items;
  }
}

async function everything(list: (kind: Kind) => Promise<readonly Resource[]>): Promise<readonly Resource[]> {
  const found = (await Promise.all(mirroredKinds.map(list))).flat();
  const nameOf = ({ kind, metadata }: Resource): string => `${kind}/${metadata.name}`;
  return found.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)).map(comparable);
}

/** The fields that a list shows, and its state; the database stores times to the microsecond. */
function comparable({ apiVersion, kind, metadata, spec, status }: Resource): Resource {
  const { creationTimestamp, deletionTimestamp, ...others } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      ...others,
      creationTimestamp: new Date(creationTimestamp).toISOString(),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp: new Date(deletionTimestamp).toISOString() }),
    },
    spec,
    status,
  };
}

interface ApiParts {
  readonly kubernetes: Kubernetes;
  readonly cluster: ResourceStore;
  readonly owners: KubernetesOwnerNamespaces;
  readonly database: Database;
}

async function startTestApi({ kubernetes, cluster, owners, database }: ApiParts): Promise<StartedApi> {
  const [mirror, pages, accounts] = [createResourceMirror(database), createResourcePages(database), createAccounts(database)];
  await accounts.seedUser(ada, { hash: createHash("sha256").update(key).digest("hex"), prefix: "key", name: "test" });
  return startApi(
    { ...defaultApiConfig, publicUrl: "http://headwater.test", listen: { host: "127.0.0.1", port: 0 } },
    {
      store: createMirroredStore({ cluster, mirror, pages, onError: () => undefined }),
      storedUse: createStoredUse(database),
      library: createComponentLibrary(database),
      publications: createPublications(database),
      dataStores: { ...createDataStores(database, systemClock), ...createRegisteredStores(database) },
      published: [],
      bundles: {
        get: async (name) => {
          throw new NotFound(`bundle ${name} does not exist`);
        },
      },
      pages: { ...pages, show: (_kind, resource) => mirror.write([resource], []) },
      owners,
      secretValues: createKubernetesSecretValues(kubernetes),
      accounts,
      sessions: createSessions(database.db),
      builtInApps: new Map(),
      connections: createConnections(database),
      connector: { exchange: () => Promise.reject(new Error("not in this test")), revoke: async () => undefined },
      auditLog: createAuditLog(database),
      history: createHistory(database),
      traceRecords: createTraceRecords(database),
      search: createSearchRecords(database),
      activity: createActivity(database),
      outcomes: createOutcomes(database),
      measures: createMeasures(database),
      diskSamples: createDiskSamples(database),
      installation: { read: async () => ({ natsVersion: "", streams: [], runners: [], deliveries: [], lag: undefined }) },
      sourceBacklogs: { read: async () => new Map() },
      builds: { build: async ({ code }) => fakeBuild(code) },
      runs: {
        run: async () => ({ ended: Promise.resolve(undefined) }),
        dryRun: async () => ({ outcome: Promise.resolve(undefined) }),
        control: async () => undefined,
        backfill: async () => undefined,
      },
      deliveries: createDeliveryRecords(database),
      redeliveries: { request: async () => undefined, test: async () => ({ outcome: "not-ready" }) },
      backlogs: { read: async () => ({ due: 0, scheduled: 0, nextAt: undefined, queued: 0, head: undefined }) },
      replays: { publish: async () => undefined },
      sourceTests: { seal: async () => Promise.reject(new Error("no source is tested here")) },
      workflowTests: { seal: async () => [], request: async () => ({ outcome: Promise.resolve(undefined) }) },
      configurations: { configure: async () => ({ outcome: "props", props: [] }) },
      fetchComponent: async () => ({ code: "name: fetched" }),
      listPackage: async ({ name }) => ({ name, version: "1.0.0", integrity: "sha512-x", kind: "none", components: [] }),
      connectors: async () => ({ connectors: [], failed: [] }),
      clock: systemClock,
      randomBytes,
      createServer: createBoundedServer,
      bodies: new RequestBodies(32 * 2 ** 20),
      log: silent,
      readiness: { read: async () => ({ ready: true, checks: {} }) },
    },
  );
}

async function request(url: string, method: string, body: unknown) {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text === "" ? undefined : JSON.parse(text)) as unknown };
}

/** The same rows, but slow or unreachable until `heal`; a failing write may have succeeded. */
export function unreliable(rows: MirrorRows, random: () => number): { readonly rows: MirrorRows; heal(): void } {
  let healed = false;
  const trouble = async (): Promise<void> => {
    if (healed) return;
    await pause(random() * 60);
    if (random() < 0.2) throw new Unavailable("the database is away");
  };
  return {
    rows: {
      known: async (kind) => {
        await trouble();
        return rows.known(kind);
      },
      forget: (kind) => rows.forget(kind),
      write: async (present, gone) => {
        await trouble();
        await rows.write(present, gone);
        await trouble();
      },
    },
    heal: () => {
      healed = true;
    },
  };
}
