import { expect, test } from "vitest";
import type { Resource, Writer } from "../../crds/resource.ts";
import { changesOf, deletionsOf, lastChangesOf } from "../../operator/audit/changes.ts";

const second = 1_000;
const created = 1_000 * second;
const now = 2_000 * second;
const by = (manager: string, at: number, operation = "Update"): Writer => ({ manager, operation, at });

interface Given {
  readonly version: number;
  readonly writers: readonly Writer[];
  readonly spec?: object;
  readonly more?: Partial<Resource["metadata"]>;
}

const version = ({ version: n, writers, spec = { url: "https://x.test/" }, more = {} }: Given): Resource => ({
  apiVersion: "headwater.dev/v1alpha1",
  kind: "Webhook",
  metadata: {
    name: "orders",
    namespace: "hw-ada",
    uid: "uid-1",
    resourceVersion: String(n),
    generation: n,
    creationTimestamp: new Date(created).toISOString(),
    finalizers: [],
    labels: {},
    annotations: {},
    writers,
    ...more,
  },
  spec,
  status: {},
});

const applied = version({ version: 1, writers: [by("kubectl", created)] });
const summary = (before: Resource | undefined, after: Resource) =>
  changesOf(before, after, now).map(({ action, fieldManager, fields, at }) => [action, fieldManager, fields.join(), at]);

test("a new resource of another client is a creation at the time of its write", () => {
  expect(summary(undefined, applied)).toEqual([["create", "kubectl", "url", created]]);
});

test("a client with a new time has changed the fields that differ", () => {
  const scaled = version({
    version: 2,
    writers: [by("kubectl", created), by("kubectl", now, "Scale")],
    spec: { url: "https://x.test/", replicas: 2 },
  });
  expect(summary(applied, scaled)).toEqual([["update", "kubectl", "replicas", now]]);
});

test("a write of Headwater is none, even if another client's entry loses fields", () => {
  const written = version({ version: 2, writers: [by("headwater", now)], spec: { url: "https://y.test/" } });
  expect(summary(applied, written)).toEqual([]);
});

test("a status, a finalizer and a label of Headwater are no change", () => {
  const adopted = {
    ...applied.metadata,
    resourceVersion: "2",
    finalizers: ["headwater.dev/cleanup"],
    labels: { "headwater.dev/id": "wh_1" },
  };
  expect(summary(applied, { ...applied, metadata: adopted, status: { id: "wh_1" } })).toEqual([]);
});

test("the removal of a field has no client, and the second write in a second neither", () => {
  const named = version({ version: 2, writers: applied.metadata.writers ?? [], spec: { url: "https://x.test/", name: "a" } });
  expect(summary(named, applied)).toEqual([["update", null, "name", now]]);
  const recent = [by("kubectl", now)];
  const [first, next] = [
    version({ version: 2, writers: recent }),
    version({ version: 3, writers: recent, spec: { url: "https://z.test/" } }),
  ];
  expect(summary(first, next)).toEqual([["update", null, "url", now]]);
});

test("a deletion is one change, when it is requested or when it happens", () => {
  const requested = version({ version: 2, writers: [], more: { deletionTimestamp: new Date(now).toISOString() } });
  expect(summary(applied, requested)).toEqual([["delete", null, "", now]]);
  expect(deletionsOf(requested, requested.metadata, now)).toEqual([]);
  expect(deletionsOf(applied, applied.metadata, now)).toMatchObject([{ action: "delete", change: "uid-1/deleted" }]);
});

test("what belongs to another resource is deleted without an entry", () => {
  const owner = { apiVersion: "headwater.dev/v1alpha1", kind: "Source", name: "a", uid: "uid-2" };
  const owned = version({ version: 1, writers: [], more: { ownerReferences: [owner] } });
  expect(deletionsOf(owned, owned.metadata, now)).toEqual([]);
});

test("an operator that starts finds the last write of each client, with the identity that a live change has too", () => {
  const two = version({ version: 3, writers: [by("kubectl", created), by("flux", now, "Apply"), by("headwater", now)] });
  const found = lastChangesOf(two);
  expect(found.map(({ action, fieldManager }) => [action, fieldManager])).toEqual([
    ["create", "kubectl"],
    ["update", "flux"],
  ]);
  const [live] = changesOf(applied, two, now);
  expect(live?.write).toBe(found[1]?.change);
});
