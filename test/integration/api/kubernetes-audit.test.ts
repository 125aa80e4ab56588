import { expect, test } from "vitest";
import { auditEntrySchema } from "../../../api/audit/schemas.ts";
import type { OwnedChange } from "../../../operator/audit/change.ts";
import { createChangeLog } from "../../../platform/postgres/audit/observed-changes.ts";
import { ada, keys, withApi } from "./support.ts";

const adminToken = "an-admin-token-of-many-characters-0123456789";
const api = withApi({ adminToken });
const at = Date.parse("2026-05-01T10:00:00Z");
const secret = "sk_very_secret_value";

/** An event as the API server sends it, of the level RequestResponse. */
const event = (id: string, user: string, more: object = {}) => ({
  kind: "Event",
  auditID: id,
  level: "RequestResponse",
  stage: "ResponseComplete",
  requestURI: "/apis/headwater.dev/v1alpha1/namespaces/hw-ada/webhooks/orders?fieldManager=kubectl-edit&fieldValidation=Strict",
  verb: "patch",
  user: { username: user, groups: ["system:authenticated"] },
  sourceIPs: ["10.1.2.3"],
  userAgent: "kubectl/v1.34.0 (linux/amd64)",
  objectRef: { resource: "webhooks", namespace: "hw-ada", name: "orders", apiGroup: "headwater.dev", apiVersion: "v1alpha1" },
  responseStatus: { metadata: {}, code: 200 },
  requestObject: { spec: { basicAuth: secret } },
  requestReceivedTimestamp: new Date(at).toISOString(),
  stageTimestamp: new Date(at + 20).toISOString(),
  ...more,
});

const send = (items: readonly object[]) => {
  const list = { kind: "EventList", apiVersion: "audit.k8s.io/v1", metadata: {}, items };
  return api.ask("POST", "/admin/v1/kubernetes_audit_events?timeout=30s", { key: adminToken, body: list });
};
const change = (id: string, more: Partial<OwnedChange> = {}): OwnedChange => ({
  change: `uid/${id}`,
  write: null,
  uid: "uid",
  at,
  action: "update",
  kind: "Webhook",
  namespace: "hw-ada",
  name: "orders",
  resourceId: "wh_1",
  resourceName: "orders",
  fields: ["url"],
  fieldManager: "kubectl-edit",
  owner: ada.id,
  ...more,
});
const users = async (query = "") => {
  const { body } = await api.ask("GET", `/v1/audit_log?${query}`);
  return auditEntrySchema
    .array()
    .parse(body.data)
    .map(({ action, actor }) => [action, actor.kubernetes_user, actor.address]);
};

test("audit events name the users of changes that the operator observes, in any order and sent twice", async () => {
  const changes = createChangeLog(api.database);
  const removal = event("2", "argocd", {
    verb: "delete",
    requestURI: "/apis/headwater.dev/v1alpha1/namespaces/hw-ada/webhooks/orders",
    userAgent: "argocd-controller/v3",
    requestReceivedTimestamp: new Date(at + 60_000).toISOString(),
    stageTimestamp: new Date(at + 60_010).toISOString(),
  });
  expect((await send([event("1", "jane"), removal])).status).toBe(204);
  await changes.record([change("1"), change("deleted", { action: "delete", at: at + 60_500, fieldManager: null, fields: [] })]);
  expect((await send([event("1", "jane"), event("3", "mallory", { responseStatus: { code: 403 } }), { kind: "Other" }])).status).toBe(204);
  expect(await users()).toEqual([
    ["delete", "argocd", "10.1.2.3"],
    ["update", "jane", "10.1.2.3"],
  ]);
  expect(await users("actor=jane")).toHaveLength(1);
});

test("a request of another client, another object or another time names no change", async () => {
  await createChangeLog(api.database).record([change("9", { name: "invoices" }), change("10", { fieldManager: "flux" })]);
  expect((await users()).filter(([, user]) => user === null)).toHaveLength(2);
});

test("events need the admin token, and their bodies are not stored", async () => {
  expect((await api.ask("POST", "/admin/v1/kubernetes_audit_events", { key: keys.ada, body: { items: [] } })).status).toBe(401);
  const rows = await api.database.db.selectFrom("kubernetes_requests").selectAll().execute();
  expect(rows.length).toBe(2);
  expect(JSON.stringify(rows)).not.toContain(secret);
});

test("a batch of the largest size that the API server sends is received", async () => {
  const annotations = { "authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": "RBAC: allowed ".repeat(20) };
  const batch = Array.from({ length: 400 }, (_, n) => event(`batch-${n}`, "controller", { annotations }));
  const { status, body } = await send(batch);
  expect([status, body]).toEqual([204, undefined]);
});
