import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { AuditEntry, AuditLog } from "../../../api/audit/ports.ts";
import type { ApiPorts } from "../../../api/ports.ts";
import { componentKind } from "../../../crds/component.ts";
import { apiVersion, type Resource } from "../../../crds/resource.ts";
import type { ResourceStore } from "../../../crds/resource-store.ts";
import type { History as DeliveryPort } from "../../../delivery/record/ports.ts";
import type { Upkeep } from "../../../delivery/record/upkeep.ts";
import { emptyState } from "../../../domain/run/commit.ts";
import { HeadwaterError } from "../../../domain/errors.ts";
import { parseSearch } from "../../../domain/search/query.ts";
import type { MirrorRows } from "../../../operator/mirror/rows.ts";
import type { OperatorPorts } from "../../../operator/ports.ts";
import { createAccounts } from "../../../platform/postgres/accounts/index.ts";
import type { DiskSamples } from "../../../api/admin/ports.ts";
import { createDiskSamples, keepDiskSamples } from "../../../platform/postgres/storage/disk-samples.ts";
import { createAuditLog } from "../../../platform/postgres/audit/audit-log.ts";
import { createActivity } from "../../../platform/postgres/history/activity.ts";
import { createComponentLibrary } from "../../../platform/postgres/component-library.ts";
import type { Database } from "../../../platform/postgres/connection.ts";
import { createDeliveryRecords } from "../../../platform/postgres/history/deliveries.ts";
import { createFailingEndpoints } from "../../../platform/postgres/history/failing-endpoints.ts";
import { createHistory, type History } from "../../../platform/postgres/history/index.ts";
import { createMeasures } from "../../../platform/postgres/measures/read.ts";
import { listOverQuota, listWeights } from "../../../platform/postgres/quotas.ts";
import { createResourceMirror } from "../../../platform/postgres/resources/resource-mirror.ts";
import { createResourcePages } from "../../../platform/postgres/resources/resource-pages.ts";
import { createPostgresResourceStore } from "../../../platform/postgres/resources/resource-store.ts";
import { pruneTombstones } from "../../../platform/postgres/resources/prune.ts";
import { resealResources } from "../../../platform/postgres/resources/reseal.ts";
import { createSearchRecords } from "../../../platform/postgres/search/search.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { withDatabase } from "./support.ts";

/**
 * Calls every method of every port that reaches Postgres, as the user of the role that calls it. The types demand an entry for each
 * method, so one that is added without a grant fails here.
 */
type Calls<Port> = { readonly [Method in keyof Port]-?: (port: Port) => unknown };

const page = { limit: 10, cursor: null } as const;
const after = { limit: 10, cursor: { side: "after", id: "dc_absent" } } as const;
const signal = new AbortController().signal;
const webhook = "wh_1";
const letter = {
  id: "1",
  webhook,
  owner: "u_1",
  emitId: "e",
  subscription: "sub_1",
  delivery: "dlv_1",
  source: "dc_1",
  event: "1-0",
  channel: "",
} as const;
const key = { id: "pk_1", prefix: "hw_", name: "k", hash: "h", scopes: ["read"], expiresAt: null } as const;
const user = { id: "u_1", username: "one", email: "one@example.com" };
const organization = { id: "o_1", name: "One", orgname: "one", email: "one@example.com" };
const invitation = {
  id: "inv_1",
  organization: organization.id,
  invitee: { field: "email", name: "ONE@example.com" },
  role: "member",
  createdAt: 0,
  expiresAt: 1,
} as const;
const component: Resource<{ code: string }> = {
  apiVersion,
  kind: "Component",
  metadata: {
    name: "one",
    namespace: "hw-u-1",
    uid: randomUUID(),
    resourceVersion: "1",
    generation: 1,
    creationTimestamp: new Date().toISOString(),
    finalizers: [],
    labels: {},
    annotations: {},
  },
  spec: { code: "x" },
  status: {},
};
const failures = { webhook, url: "https://example.com/", inRow: 1, since: 1, disabled: undefined } as never; // Stored as JSON, whatever it holds.

const store: Calls<ResourceStore> = {
  create: (port) => port.create(componentKind, { name: "two", namespace: "hw-u-1", spec: { code: "x" }, finalizers: ["f"] }),
  get: (port) => port.get(componentKind, "hw-u-1", "two"),
  find: (port) => port.find(componentKind, "hw-u-1", "two"),
  findById: (port) => port.findById(componentKind, "sc_1"),
  list: (port) => port.list(componentKind, { labels: { "headwater.dev/id": "sc_1", other: "x" } }),
  update: async (port) => port.update(componentKind, { ...(await port.get(componentKind, "hw-u-1", "two")), spec: { code: "y" } }),
  updateStatus: async (port) =>
    port.updateStatus(componentKind, { ...(await port.get(componentKind, "hw-u-1", "two")), status: { id: "sc_1" } }),
  delete: (port) => port.delete(componentKind, "hw-u-1", "two"),
  watch: async (port) => {
    for await (const _ of port.watch(componentKind, "0", AbortSignal.timeout(200))) return;
  },
};

const history: Calls<ApiPorts["history"]> = {
  pageEvents: (port) => port.pageEvents("dc_1", page),
  pageDerived: async (port) => Promise.all([port.pageDerived("dc_1", "$errors", page), port.pageDerived("dc_1", "$logs", page)]),
  pageScheduled: async (port) =>
    Promise.all([port.pageScheduled("dc_1", page), port.pageScheduled("dc_1", { ...page, sinceMs: 1, untilMs: 2 })]),
  deleteScheduled: async (port) =>
    Promise.all([port.deleteScheduled("dc_1", {}), port.deleteScheduled("dc_1", { startId: "1-0", endId: "1-0" })]),
  listEvents: (port) => port.listEvents("dc_1", {}),
  listEventSizes: (port) => port.listEventSizes("dc_1", {}),
  findEvent: (port) => port.findEvent("dc_1", "1-0"),
  deleteEvents: (port) => port.deleteEvents("dc_1", {}),
  listDeletions: (port) => port.listDeletions("dc_1"),
  pageRuns: (port) => port.pageRuns("dc_1", page),
  findRun: (port) => port.findRun("dc_1", "r_1"),
  pageTicks: (port) => port.pageTicks("dc_1", page),
  lastLogs: (port) => port.lastLogs("dc_1"),
  pageWorkflowRuns: async (port) =>
    Promise.all([port.pageWorkflowRuns("p_1", page), port.pageWorkflowRuns("p_1", { ...page, status: "suspended" })]),
  findWorkflowRun: (port) => port.findWorkflowRun("p_1", "r_1"),
  runsOfEvent: (port) => port.runsOfEvent({ emitter: "dc_1", emitId: "em_1" }, ["u_1"]),
  readUsage: (port) => port.readUsage("u_1", 0),
  readDay: (port) => port.readDay("u_1", 0),
};

const plan = { name: "small", form: "free", dailyInvocations: 1, dailyComputeMs: 1, weight: 1, maxOrganizations: 20 } as const;
const auditEntry: AuditEntry = {
  id: "al_1",
  at: 1,
  owner: "u_1",
  operation: "createSource",
  action: "create",
  kind: "Source",
  resourceId: "dc_1",
  resourceName: "one",
  fields: ["name"],
  error: null,
  actor: { kind: "user", userId: "u_1", keyId: "pk_1", keyName: "k", address: "::1" },
};
const auditLog: Calls<AuditLog> = {
  record: (port) => port.record({ ...auditEntry, id: "al_2" }),
  page: async (port) => [
    await port.page({ owner: "u_1", kind: "Source", actor: "u_1", resourceId: "dc_1", sinceMs: 0 }, page),
    await port.page({}, page),
  ],
};

const accounts: Calls<ApiPorts["accounts"]> = {
  createUser: (port) => port.createUser(user),
  requestEmailConfirmation: (port) => port.requestEmailConfirmation(user.id, user.id),
  confirmEmail: (port) => port.confirmEmail("h"),
  findKey: (port) => port.findKey("h"),
  createKey: (port) => port.createKey(user.id, key, 10),
  listKeys: (port) => port.listKeys(user.id),
  revokeKey: (port) => port.revokeKey(user.id, key.id),
  findUser: (port) => port.findUser(user.id),
  pageUsers: (port) => port.pageUsers(page),
  createOrganization: (port) => port.createOrganization(organization, [user.id]),
  createOwnOrganization: (port) => port.createOwnOrganization({ ...organization, id: "o_own", orgname: "own" }, user.id),
  findOrganization: (port) => port.findOrganization(organization.id),
  pageOrganizations: (port) => port.pageOrganizations(page),
  organizationsOf: (port) => port.organizationsOf(user.id),
  isMember: (port) => port.isMember(user.id, organization.id),
  listMembers: (port) => port.listMembers(organization.id),
  putMember: (port) => port.putMember(user.id, organization.id, "admin", { keepsAdmin: true }),
  createInvitation: (port) => port.createInvitation(invitation, 1),
  listInvitations: (port) => port.listInvitations(organization.id, 0),
  invitationsTo: (port) => port.invitationsTo(user, 0, 1),
  findInvitation: (port) => port.findInvitation(user, invitation.id, 0),
  declineInvitation: async (port) => {
    await port.declineInvitation(user, invitation.id);
    await port.createInvitation(invitation, 1);
  },
  acceptInvitation: (port) => port.acceptInvitation(user, invitation.id, 0),
  withdrawInvitation: async (port) => {
    await port.createInvitation(invitation, 1);
    await port.withdrawInvitation(organization.id, invitation.id);
  },
  planOf: (port) => port.planOf(user.id),
  listPlans: (port) => port.listPlans(),
  savePlan: (port) => port.savePlan(plan),
  choosePlan: (port) => port.choosePlan(user.id, "default"),
  deletePlan: (port) => port.deletePlan("small"),
  removeMember: (port) => port.removeMember(user.id, organization.id),
  setErrorMails: (port) => port.setErrorMails(user.id, false),
  deleteOrganization: (port) => port.deleteOrganization(organization.id),
  deleteUser: (port) => port.deleteUser(user.id),
  recording: (port) => port.recording(() => auditEntry).savePlan(plan),
};

const deliveries: Calls<ApiPorts["deliveries"]> = {
  pageAttempts: (port) => port.pageAttempts(webhook, page),
  readDelivery: (port) => port.readDelivery("dlv_1", 1),
  pageDeadLetters: (port) => port.pageDeadLetters(webhook, page),
  findDeadLetter: (port) => port.findDeadLetter(webhook, "dlv_1"),
  countDeadLetters: (port) => port.countDeadLetters(webhook, {}),
  findDeadDeliveries: (port) => port.findDeadDeliveries(webhook, ["dlv_1"]),
  findDelivery: (port) => port.findDelivery("dlv_1"),
  deleteDeadLetters: async (port) => Promise.all([port.deleteDeadLetters(webhook), port.deleteDeadLetters(webhook, ["dlv_1"])]),
  deleteWebhook: (port) => port.deleteWebhook(webhook),
};

const library: Calls<ApiPorts["library"]> = {
  listPage: async (port) => [
    await port.listPage({ namespace: "hw-u-1" }, page),
    await port.listPage({ namespace: "hw-u-1", keyLabel: "k" }, after),
  ],
  search: (port) =>
    port.search({ namespaces: ["hw-u-1"], words: ["a"], app: "shop", type: "source", limit: 1, similarity: 1, published: [] }),
  findNamed: (port) => port.findNamed("hw-u-1", ["one"]),
  findVersion: (port) => port.findVersion("hw-u-1", "k", "1"),
};

const pages: Calls<Omit<ApiPorts["pages"], "show">> = {
  listPage: async (port) => [
    await port.listPage(componentKind, { namespace: "hw-u-1" }, page),
    await port.listPage(componentKind, {}, after),
  ],
  findNewest: (port) => port.findNewest(componentKind, { namespace: "hw-u-1", withoutLabel: "x", mentions: "y" }),
  findById: (port) => port.findById(componentKind, "sc_1"),
};

const mirror: Calls<MirrorRows> = {
  write: async (port) => {
    await port.write([component], []);
    await port.write([], [{ ...component.metadata, kind: component.kind }]);
  },
  known: (port) => port.known(componentKind),
  forget: (port) => port.forget(componentKind),
};

const operatorHistory: Calls<{ deleteSource(source: string): Promise<void> }> = { deleteSource: (port) => port.deleteSource("dc_1") };
const activity: Calls<OperatorPorts["activity"]> = { since: (port) => port.since([{ source: "dc_1", lastRunAt: 0 }]) };
const memberships: Calls<OperatorPorts["memberships"]> = { isMember: (port) => port.isMember("u_1", "o_1") };
const failingEndpoints: Calls<OperatorPorts["failingEndpoints"]> = {
  disabled: (port) => port.disabled(),
  forget: (port) => port.forget(webhook),
};

const attempt = { ...letter, attempt: 1, at: 1, durationMs: 1, outcome: "retry", status: 500, error: null } as const;
const commit = {
  source: "dc_1",
  owner: "u_1",
  deployment: "d_1",
  run: { id: "r_1", trigger: "timer", dueAt: 1, skippedTicks: [1], generation: 1, startedAt: 1, durationMs: 1, cpuMs: 1, result: null },
  events: [
    { id: "1-0", emitId: "e", channel: "", dedupeId: null, summary: null, ts: 1, payload: "{}" },
    { id: "1-1", emitId: "f", channel: "", dedupeId: null, summary: null, ts: 1, deliverAt: 9, payload: "{}" },
  ],
  logs: [{ k: "console.log", ts: 1, msg: "x" }],
  error: { name: "Error", message: "x" },
  state: emptyState,
} as const;

/** Joined like `historyOf` in wiring/roles/delivery.ts. */
function deliveryPort(database: Database): DeliveryPort {
  const recorded = createHistory(database, { kept: { events: 1, logs: 1, runs: 1, ticks: 1 } });
  const records = createDeliveryRecords(database, { kept: { attempts: 1, deadLetters: 1 } });
  const endpoints = createFailingEndpoints(database);
  return {
    ...records,
    positions: () => recorded.readPositions("RUNS"),
    recordCommits: (commits, expected) => recorded.recordCommits("RUNS", commits, expected),
    scheduledEvent: (source, listedId, { seq }) => recorded.scheduledEvent(source, listedId, { stream: "RUNS", seq }),
    emitScheduledEvent: (source, listedId, id) => recorded.emitScheduledEvent(source, listedId, id),
    listOverQuota: (dayMs) => listOverQuota(database.db, dayMs),
    listWeights: () => listWeights(database.db),
    listFailingWebhooks: () => endpoints.all(),
    saveWebhookFailures: (failing, recovered) => endpoints.save(failing, recovered),
  };
}

const delivery: Calls<DeliveryPort> = {
  positions: (port) => port.positions(),
  recordCommits: async (port) => {
    for (const seq of [1, 2, 3]) await port.recordCommits([{ seq, commit }], new Map());
  },
  scheduledEvent: (port) => port.scheduledEvent("dc_1", "1-1", { stream: "RUNS", seq: 1 }),
  emitScheduledEvent: (port) => port.emitScheduledEvent("dc_1", "1-1", "9-80001"),
  listOverQuota: (port) => port.listOverQuota(0),
  listWeights: (port) => port.listWeights(),
  recordAttempts: async (port) => {
    for (const n of [1, 2, 3]) await port.recordAttempts([{ ...attempt, attempt: n }]);
  },
  recordDeadLetters: async (port) => {
    for (const delivery of ["dlv_1", "dlv_2", "dlv_3"])
      await port.recordDeadLetters([{ ...letter, delivery, attempts: 1, reason: "x", diedAt: 1, payload: "{}" }]);
  },
  findDeadLetter: (port) => port.findDeadLetter(webhook, "dlv_1"),
  oldestDeadLetters: (port) => port.oldestDeadLetters(webhook, { upTo: "1" }, 10),
  removeDeadLetters: (port) => port.removeDeadLetters(webhook, ["1"]),
  listFailingWebhooks: (port) => port.listFailingWebhooks(),
  saveWebhookFailures: (port) => port.saveWebhookFailures([failures], [failures]),
};

const measures: Calls<ApiPorts["measures"]> = {
  read: (port) => port.read(["dc_1"], { fromMs: 0, untilMs: 1, stepMs: 60_000 }),
  readAll: (port) => port.readAll({ fromMs: 0, untilMs: 1, stepMs: 60_000 }),
};

const search: Calls<ApiPorts["search"]> = {
  findEmitters: (port) => port.findEmitters(["hw-u-1"], ["dc_*"], 10),
  emittersOfRun: (port) => port.emittersOfRun("r_1", ["u_1"]),
  readWindow: (port) =>
    port.readWindow({ query: parseSearch("a status:failed", 0), owners: ["u_1"], isByOwner: true, rows: 16, limit: 10 }),
};
const diskSamples: Calls<DiskSamples> = { read: (port) => port.read() };
const upkeep: Calls<Upkeep & Pick<History, "fillSearchColumns">> = {
  continueDeletions: (port) => port.continueDeletions(),
  fillSearchColumns: (port) => port.fillSearchColumns(),
  sweep: (port) => port.sweep(),
};

interface Case {
  readonly port: string;
  readonly calls: readonly (readonly [method: string, call: () => unknown])[];
}

function casesOf<Port extends object>(name: string, port: Port, calls: Calls<Port>): Case {
  const entries = Object.entries(calls) as [string, (port: Port) => unknown][]; // Of the type above.
  return { port: name, calls: entries.map(([method, call]) => [method, () => call(port)]) };
}

const postgres = withMigratedPostgres();
const [api, operator, deliverer] = [withDatabase("api", postgres), withDatabase("operator", postgres), withDatabase("delivery", postgres)];
const storeOf = (database: Database) => createPostgresResourceStore(database, { timing: { bookmarkMs: 10, pollMs: 10 } });

/** The code of Postgres for a missing right, which no port may return. */
const denied = "42501";

describe.each<{ readonly role: string; readonly cases: readonly Case[] }>([
  {
    role: "delivery",
    cases: [
      casesOf("history", deliveryPort(deliverer), delivery),
      casesOf("upkeep", createHistory(deliverer), upkeep),
      casesOf("disk samples", { keepDiskSamples }, { keepDiskSamples: () => keepDiskSamples(deliverer, [{ name: "RUNS", bytes: 1 }]) }),
    ],
  },
  {
    role: "api",
    cases: [
      casesOf("store", storeOf(api), store),
      casesOf("mirror", createResourceMirror(api), mirror),
      casesOf("pages", createResourcePages(api), pages),
      casesOf("library", createComponentLibrary(api), library),
      casesOf("history", createHistory(api), history),
      casesOf("activity", createActivity(api), activity),
      casesOf("measures", createMeasures(api), measures),
      casesOf("search", createSearchRecords(api), search),
      casesOf("accounts", createAccounts(api), accounts),
      casesOf("auditLog", createAuditLog(api), auditLog),
      casesOf("diskSamples", createDiskSamples(api), diskSamples),
      casesOf("deliveries", createDeliveryRecords(api), deliveries),
    ],
  },
  {
    role: "operator",
    cases: [
      casesOf("store", storeOf(operator), store),
      casesOf("mirror", createResourceMirror(operator), mirror),
      casesOf("activity", createActivity(operator), activity),
      casesOf("memberships", createAccounts(operator), memberships),
      casesOf("failing endpoints", createFailingEndpoints(operator), failingEndpoints),
      casesOf("history", createHistory(operator), operatorHistory),
      casesOf(
        "upkeep of resources",
        { prune: pruneTombstones, reseal: resealResources },
        {
          prune: ({ prune }) => prune(operator.db, { keepMs: 0, keepCount: 0 }),
          reseal: ({ reseal }) => reseal(operator, async () => undefined, signal),
        },
      ),
    ],
  },
])("the user of the role $role", ({ cases }) => {
  it.each(cases)("has the rights for every call of its $port", async ({ calls }) => {
    const refused: string[] = [];
    for (const [method, call] of calls) {
      // NotFound, Conflict and an unknown cursor are outcomes of the port.
      await Promise.resolve(call()).catch((error: unknown) => {
        if (error instanceof HeadwaterError) return;
        if (error instanceof Error && "code" in error && error.code === denied) return void refused.push(`${method}: ${error.message}`);
        throw error;
      });
    }
    expect(refused).toEqual([]);
  });
});
