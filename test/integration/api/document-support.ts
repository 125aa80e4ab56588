import { afterAll, beforeAll, expect } from "vitest";
import type { z } from "zod";
import { createSchema } from "zod-openapi";
import type { ApiConfig } from "../../../api/config.ts";
import { errorSchema } from "../../../api/http/response/errors.ts";
import { documentedOperations } from "../../../api/app.ts";
import { aliasesOf } from "../../../api/http/routing/aliases.ts";
import { describedOperations, type DescribedOperation } from "../../../api/openapi/document.ts";
import { errorStatuses } from "../../../api/openapi/error-responses.ts";
import type { ApiPorts } from "../../../api/ports.ts";
import type { PackageListing } from "../../../domain/component/package-listing.ts";
import type { DryRunOutcome } from "../../../domain/invocation/dry-run.ts";
import type { WorkflowTestOutcome } from "../../../domain/workflow/test-run.ts";
import type { ResourceStore } from "../../../crds/resource-store.ts";
import { webhookKind } from "../../../crds/webhook.ts";
import { emptyState } from "../../../domain/run/commit.ts";
import { Conflict, InvalidInput, NotFound } from "../../../domain/errors.ts";
import type { WorkflowProgress } from "../../../domain/workflow/run-commit.ts";
import { committedStep } from "../../domain/run/workflow-commits.ts";
import { createDeliveryRecords } from "../../../platform/postgres/history/deliveries.ts";
import { acme, ada, bob, others, withApi, type Answer, type TestApi } from "./support.ts";
import { deployment } from "../../runner/support.ts";
import { committedEvent } from "../committed-event.ts";

export type TestedOperation = DescribedOperation;

/** All operations of the document, with their aliases. */
export const described: readonly TestedOperation[] = describedOperations(documentedOperations, aliasesOf);

export interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly pattern?: string;
  readonly [keyword: string]: unknown;
}

const jsonSchemas = new WeakMap<z.ZodType, JsonSchema>();

/** The JSON Schema of a request's value, as in the document. */
export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  const known = jsonSchemas.get(schema) ?? (createSchema(schema, { io: "input" }).schema as JsonSchema); // Its keywords.
  jsonSchemas.set(schema, known);
  return known;
}

/** Operations that take an API key. The token endpoint has its own tests. */
export const tested = described.filter(({ authentication }) => authentication === undefined);

/** Streams stay open: their answers are not read to the end. */
export const isStream = ({ responses }: TestedOperation): boolean =>
  Object.values(responses).some((body) => body !== null && "contentType" in body && body.contentType === "text/event-stream");

/** The API with everything in the document, and short deadlines. Components are stand-ins of two words. */
export function withWholeApi(config: Partial<ApiConfig> = {}, ports: Partial<ApiPorts> = {}): TestApi {
  const api = withApi(
    {
      failureLimit: { requests: 1_000_000, windowMs: 60_000 },
      rateLimit: { requests: 1_000_000, windowMs: 60_000 },
      bodyBytes: 128 * 1024,
      codeBodyBytes: 128 * 1024,
      codeBytes: 64 * 1024,
      deployTimeoutMs: 30_000,
      deletionTimeoutMs: 30_000,
      ...config,
    },
    {
      configurations: {
        configure: async ({ call }) =>
          call.kind === "props"
            ? { outcome: "props", props: [{ name: "city", type: "string" }] }
            : { outcome: "options", options: ["a", { label: "B", value: 2 }], context: null, truncated: true },
      },
      streams: {
        stopping: new AbortController().signal,
        runs: {
          follow: async () => ({ stop: async () => undefined }),
          recordedUpTo: async () => 0,
          findNext: async () => undefined,
          kept: async () => ({ first: 1, last: 0 }),
        },
      },
      replays: { publish: async () => undefined },
      sourceTests: {
        seal: async ({ tested, props }) => ({ ...deployment, source: tested, id: tested, owner: ada.id, props }),
      },
      workflowTests: { seal: async () => [], request: async () => ({ outcome: Promise.resolve(workflowTest) }) },
      redeliveries: {
        request: async () => undefined,
        test: async () => ({ outcome: "delivered", delivery: "dlv_1", at: 1_700_000_000_000, durationMs: 2, status: 204, error: null }),
      },
      runs: {
        run: async () => ({ ended: Promise.resolve(undefined) }),
        dryRun: async () => ({ outcome: Promise.resolve(dryRun) }),
        control: async () => undefined,
        backfill: async () => undefined,
      },
      listPackage: async ({ name }) => {
        if (name !== listing.name) throw new InvalidInput(`package ${name} is not in the npm registry`, { code: "package_not_found" });
        return listing;
      },
      ...ports,
    },
  );
  const stopping = new AbortController();
  let observing: Promise<void> | undefined;
  beforeAll(() => void (observing = observeWebhooks(api.store, stopping.signal)));
  afterAll(async () => {
    stopping.abort();
    await observing;
  });
  return api;
}

/** Sets what the real operator would set of a webhook that it has seen. */
async function observeWebhooks(store: ResourceStore, signal: AbortSignal): Promise<void> {
  const { resourceVersion } = await store.list(webhookKind, { limit: 1 });
  for await (const event of store.watch(webhookKind, resourceVersion, signal)) {
    if (event.type === "bookmark" || event.type === "deleted") continue;
    const { metadata, status } = event.resource;
    const { generation: observedGeneration } = metadata;
    if (status.observedGeneration === observedGeneration) continue;
    const ready = { type: "Ready", status: "True", reason: "Ready", message: "it is", observedGeneration } as const;
    const conditions = [{ ...ready, lastTransitionTime: new Date().toISOString() }];
    await store
      .updateStatus(webhookKind, { ...event.resource, status: { ...status, observedGeneration, conditions } })
      .catch((error: unknown) => {
        // Changed in the meantime: the watch reports it next.
        if (!(error instanceof Conflict) && !(error instanceof NotFound)) throw error;
      });
  }
}

const timing = { startedAt: 1_700_000_000_123, durationMs: 5, cpuMs: 2.5 };
const workflowTest: WorkflowTestOutcome = {
  ...timing,
  status: "exited",
  steps: [
    {
      ...timing,
      id: "c_1",
      name: "first",
      outcome: "exited",
      inputs: '{"city":"Graz"}',
      exports: '{"n":1,"$return_value":2}',
      flow: { kind: "exit", reason: "done" },
      sends: [{ kind: "sse", argument: "{}", step: "first", at: 1 }],
      logs: [{ k: "console.log", ts: 1, msg: "a line" }],
      error: null,
    },
  ],
  response: { status: 200, headers: {}, body: "" },
  error: null,
};
const dryRun: DryRunOutcome = {
  startedAt: 1_700_000_000_123,
  durationMs: 5,
  cpuMs: 2.5,
  emits: [
    { verdict: "emitted", id: "1", channel: "", summary: "s", ts: 1, payload: '{"a":1}' },
    { verdict: "duplicate", id: null, channel: "c", summary: null, ts: 1, deliverAt: 2, payload: "null" },
  ],
  logs: [{ k: "console.log", ts: 1, msg: "a line" }],
  writes: [
    { prop: "db", key: "a", value: "1" },
    { prop: "db", key: "b", value: null },
  ],
  response: { status: 200, headers: { a: "b", c: ["d"] }, body: "", base64: true },
  error: null,
  result: null,
};

const listing: PackageListing = {
  name: "@acme/piece-world",
  version: "1.0.0",
  integrity: "sha512-abc",
  kind: "piece",
  piece: {
    displayName: "World",
    app: "world",
    auth: [{ kind: "custom", fields: [{ name: "key", label: "Key", secret: true, optional: false }] }],
  },
  components: [
    { address: "#action/add", type: "action", name: "Add", description: "Adds" },
    { address: "#trigger/new", type: "source", name: "New", strategy: "polling" },
  ],
};

/** Ids of what is there, by where a path has them: `sources/:id`. */
export type Ids = Readonly<Record<string, string>>;

let commits = 0;
let invitations = 0;

/** One of everything, with a history. */
export async function makeWorld(api: TestApi): Promise<Ids> {
  const made = async (path: string, body: object): Promise<string> => {
    const answer = await api.ask("POST", path, { body });
    if (answer.status !== 200) throw new Error(`POST ${path} answers ${answer.status}: ${answer.text}`);
    return answer.body.data.id;
  };
  const source = await made("/v1/sources", {
    component_code: "name: World; key: world; props: timer http city token count",
    configured_props: { token: "t" },
  });
  const webhook = await made("/v1/webhooks", { url: "https://world.test/hook", name: "hook" });
  const account = await made("/v1/accounts", { app: "shop", credentials: { token: "t" } });
  const addresses = { authorization_url: "https://shop.test/authorize", token_url: "https://shop.test/token" };
  // A second world has them already.
  await api.ask("POST", "/v1/apps", { body: { name_slug: "shop", name: "Shop", auth_type: "oauth", oauth: addresses } });
  await api.ask("POST", "/v1/oauth_clients", { body: { app: "shop", client_id: "c" } });
  const client = (await api.ask("GET", "/v1/users/me/oauth_clients?app=shop")).body.data[0].id as string;
  const connection = (await api.ask("POST", "/v1/apps/shop/connect", { body: {} })).body.data.connection_id as string;
  const subscription = await made("/v1/subscriptions", { emitter_id: source, listener_id: webhook });
  await api.ask("PUT", "/v1/variables/REGION", { body: { value: "eu" } });
  const store = await made("/v1/data_stores", { name: "World" });
  await api.ask("PUT", `/v1/data_stores/${store}/entries/first`, { body: { value: 1 } });
  const key = await makeKey(api);
  await api.accounts.putMember(bob.id, acme.id, "member");
  const [ours, toAda] = [await invitation(api, acme.id, "new@example.com"), await invitation(api, others.id, ada.email)];
  const n = commits + 1;
  const run = await recordRun(api, source, n);
  const delivery = await recordDelivery(api, source, webhook);
  const workflow = await made("/v1/workflows", {
    name: "World",
    triggers: [{ source_id: source }, { type: "http" }, { type: "timer", cron: "0 9 * * *" }],
    steps: [{ name: "first", component_code: "name: Step; key: step; type: action; props: city" }],
  });
  await recordWorkflowRun(api, workflow, n);
  const unended = await recordUnendedRuns(api, workflow);
  return {
    "sources/:id": source,
    "dc/:id": source,
    "subscriptions/:id": subscription,
    "runs/:run_id": run,
    "running/:run_id": unended.running,
    "suspended/:run_id": unended.suspended,
    "events/:event_id": `${n}-0`,
    "webhooks/:id": webhook,
    "traces/:id": run,
    "deliveries/:id": delivery,
    "workflows/:workflow_id": workflow,
    "steps/:step": "first",
    "triggers/:trigger_id": (await api.ask("GET", `/v1/workflows/${workflow}`)).body.data.triggers[2].id,
    "accounts/:id": account,
    "apps/:slug": "shop",
    "oauth_clients/:id": client,
    "variables/:name": "REGION",
    "data_stores/:id": store,
    "entries/:key": "first",
    "connections/:id": connection,
    "orgs/:org_id": acme.id,
    "workspaces/:org_id": acme.id,
    "keys/:id": key,
    "invitations/:invitation_id": ours,
    "invitations/:id": toAda,
    "namespaces/:name": (await api.ask("POST", "/v1/namespaces", { body: { name: "team-a" } })).body.data.name,
    "members/:user_id": bob.id,
    "components/:key": "world",
    "registry/:key": "hw-feed",
    "packages/:name": listing.name,
  };
}

async function invitation({ accounts }: TestApi, organization: string, email: string): Promise<string> {
  const invitee = { field: "email", name: email } as const;
  const times = { createdAt: Date.now(), expiresAt: Date.now() + 3_600_000 };
  const id = `inv_world${++invitations}`;
  return (await accounts.createInvitation({ id, organization, invitee, role: "member", ...times }, 100)).id;
}

/** In place of those of other worlds: a user has so many at most. */
async function makeKey(api: TestApi): Promise<string> {
  const { body } = await api.ask("GET", "/v1/users/me/keys");
  for (const { id, name } of body.data) if (name !== "test") await api.ask("DELETE", `/v1/users/me/keys/${id}`);
  return (await api.ask("POST", "/v1/users/me/keys", { body: { name: "of a world" } })).body.data.id;
}

/** Run and events have the ids of those of the source. */
async function recordWorkflowRun(api: TestApi, id: string, n: number): Promise<void> {
  const error = { name: "Error", message: "no", stack: "Error: no", code: "run_timeout" };
  const step = committedStep({ outcome: "failed", error });
  const cause = { emitter: id, emitId: `em_${n}-0` };
  await recordRun(api, id, n, { status: "failed", number: 1, startedAt: 1, stepCount: 1, event: "{}", cause, step });
}

/** In place of the ended run, for what can be asked of others. */
const unendedRuns: Readonly<Record<string, string>> = { cancel: "suspended", pause: "running", resume: "suspended" };

/** The ids for an operation. */
export function idsFor({ path }: Pick<TestedOperation, "path">, ids: Ids): Ids {
  const run = ids[`${unendedRuns[path.split("/").at(-1) ?? ""]}/:run_id`];
  return run === undefined ? ids : { ...ids, "runs/:run_id": run };
}

async function recordUnendedRuns(api: TestApi, id: string): Promise<Readonly<Record<"running" | "suspended", string>>> {
  const record = (status: "running" | "suspended"): Promise<string> =>
    recordRun(api, id, commits + 1, { status, number: 1, startedAt: 1, stepCount: 1, event: "{}" });
  return { running: await record("running"), suspended: await record("suspended") };
}

/** A delivery that has died. */
async function recordDelivery(api: TestApi, source: string, webhook: string): Promise<string> {
  const delivery = `dlv_world${commits}`;
  const subject = {
    delivery,
    webhook,
    source,
    owner: ada.id,
    subscription: "sub_world",
    event: `${commits}-0`,
    emitId: "em_world",
    channel: "",
  };
  const records = createDeliveryRecords(api.database);
  const error = "the webhook answered 500";
  await records.recordAttempts([{ ...subject, attempt: 1, at: 1_700_000_000_000, durationMs: 5, outcome: "dead", status: 500, error }]);
  await records.recordDeadLetters([{ ...subject, attempts: 1, reason: error, diedAt: 1_700_000_000_005, payload: '{"a":1}' }]);
  return delivery;
}

async function recordRun(api: TestApi, source: string, n: number, workflow?: WorkflowProgress): Promise<string> {
  const seq = ++commits;
  const id = `r_world${n}`;
  const run = { id, trigger: "manual", generation: 1, startedAt: 1_700_000_000_123, durationMs: 5, cpuMs: 2.5, result: '{"a":1}' } as const;
  const commit = {
    source,
    owner: ada.id,
    deployment: "d_1",
    run,
    events: [committedEvent(`${n}-0`, { dedupeId: "d", summary: "s" }), committedEvent(`${n}-1`, { channel: "c" })],
    logs: [
      { k: "console.log", ts: seq, msg: "a line" },
      { k: "error", ts: seq, err: { name: "Error", message: "no", stack: "Error: no" } },
    ],
    error: { name: "Error", message: "no", stack: "Error: no", code: "run_timeout" },
    ...(workflow === undefined ? {} : { workflow }),
    state: emptyState,
  };
  await api.history.recordCommits("WORLD", [{ seq, commit }]);
  return id;
}

/** The parameters of a path, by their places. */
export const placesOf = (path: string): readonly string[] => [...path.matchAll(/[^/]+\/:[^/]+/g)].map(([place]) => place);

/** Undefined where an id is wanted that the world does not have. */
export function pathWith(path: string, ids: Ids): string | undefined {
  const places = placesOf(path);
  if (places.some((place) => ids[place] === undefined)) return undefined;
  return `/v1${places.reduce(
    (filled, place) =>
      filled.replace(
        place,
        place.replace(/:[^/]+$/, () => encodePart(ids[place] ?? "")),
      ),
    path,
  )}`;
}

/** Any text, so that it stays one part of the path. */
export const encodePart = (text: string): string => encodeURIComponent(text.toWellFormed());

/** @throws unless the document describes this response: its status, its type, each of its fields */
export function expectToFit(operation: TestedOperation, answer: Answer, isSelected = false): void {
  const { route, responses } = operation;
  const { status, body, text, headers } = answer;
  const documented = responses[status];
  if (documented === undefined) {
    expect(errorStatuses(operation), `${route} answers ${status} ${text.slice(0, 300)}`).toContain(status);
    expect(errorSchema.parse(body), route).toEqual(body);
  } else if (documented === null) expect(text, route).toBe("");
  else if ("contentType" in documented) expect(headers.get("content-type"), route).toContain(documented.contentType);
  // What a schema does not know it leaves out. Of selected fields, some are missing.
  else if (!isSelected) expect(documented.parse(body), route).toEqual(body);
}
