import { createHash, randomBytes } from "node:crypto";
import { sql, type KyselyPlugin } from "kysely";
import { afterAll, beforeAll } from "vitest";
import { defaultApiConfig, type ApiConfig } from "../../../api/config.ts";
import { Readiness } from "../../../api/http/telemetry/readiness.ts";
import type { ApiPorts, ManualRun } from "../../../api/ports.ts";
import { startApi, type StartedApi } from "../../../api/start.ts";
import { systemClock } from "../../../domain/clock.ts";
import { InvalidInput, Unavailable } from "../../../domain/errors.ts";
import { namespaceOfOwner, ownerOfNamespace } from "../../../domain/ids.ts";
import type { RunSummary } from "../../../domain/invocation/invocation.ts";
import { createAccounts, type Accounts } from "../../../platform/postgres/accounts/index.ts";
import { createSessions } from "../../../platform/postgres/accounts/sessions.ts";
import { createAuditLog } from "../../../platform/postgres/audit/audit-log.ts";
import { createActivity } from "../../../platform/postgres/history/activity.ts";
import { createTraceRecords } from "../../../platform/postgres/history/traces/traces.ts";
import { createSearchRecords } from "../../../platform/postgres/search/search.ts";
import { createStoredUse } from "../../../platform/postgres/resources/stored-use.ts";
import { createConnections } from "../../../platform/postgres/connections/connections.ts";
import { createComponentLibrary } from "../../../platform/postgres/component-library.ts";
import { createDataStores } from "../../../platform/postgres/data-stores/data-stores.ts";
import { createRegisteredStores } from "../../../platform/postgres/data-stores/registered-stores.ts";
import { createPublications } from "../../../platform/postgres/publications/publications.ts";
import type { Database } from "../../../platform/postgres/connection.ts";
import { createDeliveryRecords } from "../../../platform/postgres/history/deliveries.ts";
import { createOutcomes } from "../../../platform/postgres/history/outcomes.ts";
import { createMeasures } from "../../../platform/postgres/measures/read.ts";
import { createDiskSamples } from "../../../platform/postgres/storage/disk-samples.ts";
import { createHistory, type History } from "../../../platform/postgres/history/index.ts";
import { createResourcePages } from "../../../platform/postgres/resources/resource-pages.ts";
import { createBoundedServer } from "../../../platform/http/bounded-server.ts";
import { RequestBodies } from "../../../platform/http/request-bodies.ts";
import { readApps } from "../../../platform/process/apps.ts";
import { createPostgresResourceStore } from "../../../platform/postgres/resources/resource-store.ts";
import type { ResourceStore } from "../../../crds/resource-store.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { fakeBuild } from "./fake-builds.ts";
import { startFakeOperator } from "./fake-operator.ts";
import type { NamespaceClaims } from "../../../api/namespaces/ports.ts";
import { createConfirmations, type ConfirmationStore } from "../../../platform/postgres/namespaces/confirmations.ts";
import { withDatabase, withHistory } from "../postgres/support.ts";

const builtInApps = await readApps();
/** As if a proxy served it there. */
export const publicUrl = "https://headwater.test";

export const keys = { ada: "key-of-ada", bob: "key-of-bob" } as const;
export const [ada, bob] = [
  { id: "u_ada", username: "ada", email: "ada@example.com" },
  { id: "u_bob", username: "bob", email: "bob@example.com" },
];
export const acme = { id: "o_acme", name: "Acme", orgname: "acme", email: "acme@example.com" };
export const others = { id: "o_others", name: "Others", orgname: "others", email: "others@example.com" };

const publishedCode = "name: Published Feed; key: hw-feed; props: timer city";
/** All that the registry has. */
export const published = { key: "hw-feed", code: publishedCode, released: "2026-11-21", definition: fakeBuild(publishedCode).definition };

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parsed when it is JSON. Tests say what they expect of it. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

export interface Ask {
  readonly key?: string | null;
  readonly body?: unknown;
  readonly raw?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestApi {
  ask(method: string, path: string, ask?: Ask): Promise<Answer>;
  readonly url: string;
  /** The address of `adminListen`. */
  readonly adminUrl: string;
  readonly store: ResourceStore;
  /** Written as the roles that write it would. */
  readonly history: History;
  readonly accounts: Accounts;
  /** As the tables' owner: for what only tests do. */
  readonly database: Database;
  /** So many the API has sent to Postgres so far, its watches among them. */
  readonly queries: number;
  readonly log: object[];
  /** Builds asked for, by code. */
  readonly built: string[];
  readonly ran: ManualRun[];
  onRun: (request: ManualRun, signal: AbortSignal) => Promise<RunSummary | undefined>;
}

/** The API over a real Postgres, with a builder, a runner and an operator that are small and predictable. */
export function withApi(config: Partial<ApiConfig> = {}, ports: Partial<ApiPorts> = {}): TestApi {
  const postgres = withMigratedPostgres();
  const owner = withDatabase("setup", postgres);
  let queries = 0;
  const database = countQueries(withDatabase("api", postgres), () => queries++);
  const history = withHistory({}, postgres);
  const store = createPostgresResourceStore(database);
  const operatorStore = createPostgresResourceStore(withDatabase("operator", postgres));
  const accounts = createAccounts(database);
  let [api, operator]: [StartedApi, { stop(): Promise<void> }] = [] as never;
  const [log, built, ran]: [object[], string[], ManualRun[]] = [[], [], []];
  const note = (fields: object): void => void log.push(fields);
  const test: TestApi = {
    ask: (method, path, ask) => request(test.url, method, path, ask),
    get queries() {
      return queries;
    },
    get url() {
      return `http://127.0.0.1:${api.address.port}`;
    },
    get adminUrl() {
      return `http://127.0.0.1:${api.adminAddress?.port}`;
    },
    store,
    history,
    accounts,
    database: owner,
    log,
    built,
    ran,
    onRun: async () => undefined,
  };
  beforeAll(async () => {
    await seed(accounts);
    operator = await startFakeOperator(operatorStore);
    api = await startApi(
      // Nothing records the runs that tests make up.
      { ...defaultApiConfig, publicUrl, listen: { host: "127.0.0.1", port: 0 }, recordTimeoutMs: 50, ...config },
      {
        store,
        history: createHistory(database),
        traceRecords: createTraceRecords(database),
        search: createSearchRecords(database),
        activity: createActivity(database),
        storedUse: createStoredUse(database),
        outcomes: createOutcomes(database),
        measures: createMeasures(database),
        diskSamples: createDiskSamples(database),
        sourceBacklogs: { read: async () => new Map() },
        bundles: { get: async (name) => new TextEncoder().encode(name) },
        accounts,
        sessions: createSessions(database.db),
        connections: createConnections(database),
        connector: {
          exchange: async () => {
            throw new Unavailable("accounts cannot be connected in this test");
          },
          revoke: async () => undefined,
        },
        auditLog: createAuditLog(database),
        pages: { ...createResourcePages(database), show: async () => undefined },
        library: createComponentLibrary(database),
        publications: createPublications(database),
        dataStores: { ...createDataStores(database, systemClock), ...createRegisteredStores(database) },
        published: [published],
        builtInApps,
        owners: {
          ownerOf: async (namespace) => ownerOfNamespace(namespace),
          find: async (owner) => namespaceOfOwner(owner),
          ensure: async (owner) => namespaceOfOwner(owner),
        },
        namespaces: storedClaims(createConfirmations(database)),
        builds: {
          build: async ({ code }) => {
            built.push(code);
            return fakeBuild(code);
          },
        },
        installation: {
          read: async () => ({
            natsVersion: "2.15.1",
            streams: [{ name: "RUNS", messages: 3, bytes: 900, maxBytes: null, limitBytes: null, replicas: 1 }],
            lag: { oldestInvocationAt: null, unrouted: 0, due: 0, scheduled: 2, ordered: 0, unrecorded: 0 },
            runners: [{ id: "r1", pool: "default", memoryShare: 0.25, fullSources: 0 }],
            deliveries: [{ id: "d1", partitions: [0, 1] }],
          }),
        },
        replays: {
          publish: async () => {
            throw new Unavailable("replays are not available in this test");
          },
        },
        runs: {
          run: async (manual, signal) => {
            ran.push(manual);
            return { ended: test.onRun(manual, signal) };
          },
          dryRun: async () => ({ outcome: Promise.resolve(undefined) }),
          control: async () => undefined,
          backfill: async () => undefined,
        },
        sourceTests: {
          seal: async () => {
            throw new Unavailable("sources are not tested in this test");
          },
        },
        workflowTests: { seal: async () => [], request: async () => ({ outcome: Promise.resolve(undefined) }) },
        deliveries: createDeliveryRecords(database),
        redeliveries: { request: async () => undefined, test: async () => ({ outcome: "not-ready" }) },
        backlogs: { read: async () => ({ due: 0, scheduled: 0, nextAt: undefined, queued: 0, head: undefined }) },
        configurations: {
          configure: async () => {
            throw new Unavailable("calls of components are not available in this test");
          },
        },
        createServer: createBoundedServer,
        bodies: new RequestBodies(32 * 2 ** 20),
        fetchComponent: async (url) => {
          if (!url.endsWith("/timer.mjs")) throw new InvalidInput(`nothing is found at ${url}`);
          return { code: "name: fetched" };
        },
        listPackage: async ({ name }) => ({ name, version: "1.0.0", integrity: "sha512-x", kind: "none", components: [] }),
        connectors: async () => ({ connectors: [], failed: [] }),
        secretValues: {
          keep: async (_holder, texts) => mapValues(texts, (text) => ({ sealed: `sealed(${Buffer.from(text).toString("base64url")})` })),
        },
        clock: systemClock,
        randomBytes,
        log: { info: note, warn: note, error: note },
        readiness: new Readiness([{ name: "database", check: async () => void (await sql`select 1`.execute(database.db)) }], {
          info: note,
          warn: note,
        }),
        ...ports,
      },
    );
  });
  afterAll(async () => {
    await api.stop(AbortSignal.timeout(5_000));
    await operator.stop();
  });
  return test;
}

function countQueries(database: Database, onQuery: () => void): Database {
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => {
      onQuery();
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return { ...database, db: database.db.withPlugin(plugin) };
}

function mapValues<V, W>(values: Readonly<Record<string, V>>, map: (value: V) => W): Record<string, W> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}

async function seed(accounts: Accounts): Promise<void> {
  const hash = (key: string): string => createHash("sha256").update(key).digest("hex");
  await accounts.seedUser(ada, { hash: hash(keys.ada), prefix: "key", name: "test" });
  await accounts.seedUser(bob, { hash: hash(keys.bob), prefix: "key", name: "test" });
  await accounts.createOrganization(acme, [ada.id]);
  await accounts.createOrganization(others, [bob.id]);
}

/** As in a cluster in which no namespace has a label. */
function storedClaims(store: ConfirmationStore): NamespaceClaims {
  return {
    list: async (owner) =>
      [...(await store.list(owner))].map(([name, confirmedAt]) => ({ name, confirmedAt, isLabelled: false, isInUse: false })),
    confirm: (owner, namespace) => store.confirm({ owner, namespace }, Date.now()),
    withdraw: (owner, namespace) => store.withdraw({ owner, namespace }),
  };
}

export async function request(
  url: string,
  method: string,
  path: string,
  { key = keys.ada, body, raw, headers = {} }: Ask = {},
): Promise<Answer> {
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(url + path, {
    method,
    ...(payload === undefined ? {} : { body: payload }),
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
  });
  const text = await response.text();
  const isJson = (response.headers.get("content-type") ?? "").includes("json");
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== "" ? JSON.parse(text) : undefined,
  };
}
