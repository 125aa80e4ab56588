import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { Bucket } from "../../../platform/jetstream/buckets/bucket.ts";
import { openEndpointDirectory } from "../../../platform/jetstream/buckets/endpoint-directory.ts";
import { fencedEntries } from "../../../platform/jetstream/buckets/fenced-entries.ts";
import { announce, runnersOf, watchMembers } from "../../../platform/jetstream/members/group.ts";
import { openBlobStore } from "../../../platform/jetstream/bundles/object-store.ts";
import { WrongLastSequence } from "../../../platform/jetstream/connection/errors.ts";
import { withJetStream } from "./support.ts";
import { until } from "../../support/until.ts";

const nats = withJetStream({ markerTtlMs: 1_000 });
const text = (json: unknown): string => {
  if (typeof json !== "string") throw new Error("not a text");
  return json;
};
const bucket = (): Bucket<string> => new Bucket(nats.connection, "ROUTES", text);

test("an entry is put, read, changed only at its revision, deleted", async () => {
  const first = await bucket().put("sub_1", "a");
  expect(await bucket().get("sub_1")).toBe("a");
  await expect(bucket().put("sub_1", "c", { expectedRevision: 0 })).rejects.toMatchObject({ actual: first });
  expect(await bucket().put("sub_1", "b", { expectedRevision: first })).toBeGreaterThan(first);
  await bucket().delete("sub_1");
  expect(await bucket().get("sub_1")).toBeUndefined();
  expect(await bucket().get("sub_never")).toBeUndefined();
});

test("a former leader that resumes after a stall overwrites and deletes nothing that its successor wrote", async () => {
  const stalled = { leads: true };
  const former = fencedEntries<string>(nats.connection, "ROUTES", { leads: () => stalled.leads });
  const successor = fencedEntries<string>(nats.connection, "ROUTES", { leads: () => true });
  await former.put("sub_led", "one");
  await successor.put("sub_led", "two");
  stalled.leads = false;
  await expect(former.put("sub_led", "three")).rejects.toMatchObject({ code: "unavailable" });
  await expect(former.delete("sub_led")).rejects.toMatchObject({ code: "unavailable" });
  expect(await former.get("sub_led")).toBe("two");
});

test("a leader that stalls between its check and its write is refused by the revision", async () => {
  const written = Promise.withResolvers<void>();
  const other = bucket();
  await other.put("sub_raced", "one");
  // The check is the last step before the write. The successor's write reaches the server first, on the same connection.
  const leads = (): boolean => {
    void other.put("sub_raced", "two").then(() => written.resolve(), written.reject);
    return true;
  };
  const former = fencedEntries<string>(nats.connection, "ROUTES", { leads });
  await expect(former.put("sub_raced", "three")).rejects.toBeInstanceOf(WrongLastSequence);
  await written.promise;
  await expect(former.delete("sub_raced")).rejects.toBeInstanceOf(WrongLastSequence);
  expect(await former.get("sub_raced")).toBe("two");
});

test("writing and deleting a fenced entry wait until readers have seen the revision", async () => {
  const seen: number[] = [];
  const entries = fencedEntries<string>(nats.connection, "ROUTES", {
    leads: () => true,
    seen: async (revision) => void seen.push(revision),
  });
  await entries.put("sub_seen", "one");
  await entries.delete("sub_seen");
  await entries.delete("sub_seen");
  const [put = 0, deleted = 0, ...more] = seen;
  expect([put > 0, deleted > put, more]).toEqual([true, true, []]);
});

test("a fenced entry can be written again after its deletion, and deleted twice", async () => {
  const entries = fencedEntries<string>(nats.connection, "ROUTES", { leads: () => true });
  await entries.put("sub_again", "one");
  await entries.delete("sub_again");
  await entries.delete("sub_again");
  await entries.put("sub_again", "two");
  expect(await entries.get("sub_again")).toBe("two");
});

test("a watch delivers all entries before it resolves, then every change, across kill -9", async () => {
  await Promise.all(Array.from({ length: 300 }, (_, i) => bucket().put(`many.${i}`, String(i))));
  const held = new Map<string, string | undefined>();
  const watch = await bucket().watch({ initial: true, onEntry: (key, value) => held.set(key, value) });
  expect(held.get("many.299")).toBe("299");
  await bucket().put("many.7", "changed");
  await nats.server.crash();
  await bucket().put("many.8", "changed too");
  await bucket().delete("many.9");
  await until(() => held.get("many.8") === "changed too" && held.get("many.9") === undefined, "changes after the restart");
  expect(held.get("many.7")).toBe("changed");
  await watch.stop();
});

test("a keys-only watch delivers only new entries, without values", async () => {
  await bucket().put("quiet", "before");
  const keys: string[] = [];
  const watch = await bucket().watchKeys({ initial: false, onKey: (key) => keys.push(key) });
  await bucket().put("quiet", "after");
  await bucket().delete("other");
  await until(() => keys.length === 2, "two changes");
  expect(keys).toEqual(["quiet", "other"]);
  await watch.stop();
});

test("members join, leave, and are dropped when they stop sending heartbeats", async () => {
  const other = await nats.addConnection();
  const reported: string[] = [];
  const watch = await watchMembers(nats.connection, runnersOf("default"), (runners) => reported.push(runners.join(",")));
  expect(reported).toEqual([""]);
  const b = await announce(nats.connection, runnersOf("default"), "runner-b");
  const a = await announce(other, runnersOf("default"), "runner-a");
  await until(() => reported.at(-1) === "runner-a,runner-b", "both");
  await b.leave();
  await until(() => reported.at(-1) === "runner-a", "one has left");
  await other.close();
  await until(() => reported.at(-1) === "", "the other's entry expires");
  await a.leave();
  await watch.stop();
});

test("after kill -9 of the server the members are correct again", async () => {
  const other = await nats.addConnection();
  const reported: string[] = [];
  const stays = await announce(nats.connection, runnersOf("default"), "runner-stays");
  const dies = await announce(other, runnersOf("default"), "runner-dies");
  const watch = await watchMembers(nats.connection, runnersOf("default"), (runners) => reported.push(runners.join(",")));
  expect(reported).toEqual(["runner-dies,runner-stays"]);
  await nats.server.server.kill();
  await other.close();
  await dies.leave();
  await nats.server.crash();
  await until(() => reported.at(-1) === "runner-stays", "only the live member");
  await stays.leave();
  await watch.stop();
});

test("bundles are stored under their hash", async () => {
  const store = openBlobStore(nats.connection);
  const bytes = Buffer.alloc(3_000_000, "export default {}\n");
  const hash = createHash("sha256").update(bytes).digest("hex");
  expect(await store.renew(hash)).toBe(false);
  await expect(store.get(hash)).rejects.toMatchObject({ code: "not_found" });
  await expect(store.put(hash, Buffer.from("other"))).rejects.toMatchObject({ code: "invalid_input" });
  await store.put(hash, bytes);
  await store.put(hash, bytes);
  expect(Buffer.compare(await store.get(hash), bytes)).toBe(0);
  await nats.server.crash();
  await until(async () => await store.renew(hash).catch(() => false), "the store is back");
});

test("the endpoint directory caches endpoints and evicts those that change", async () => {
  const endpoints = new Bucket<unknown>(nats.connection, "ENDPOINTS", (json) => json);
  const directory = await openEndpointDirectory(nats.connection, { maxEntries: 2 });
  expect(await directory.find("k1")).toBeUndefined();
  await endpoints.put("k1", { source: "dc_1", customResponse: false, active: true });
  await until(async () => (await directory.find("k1"))?.source === "dc_1", "it appears");
  await endpoints.put("k1", { source: "dc_1", customResponse: false, active: false });
  await until(async () => (await directory.find("k1"))?.active === false, "it changes");
  await endpoints.delete("k1");
  await until(async () => (await directory.find("k1")) === undefined, "it goes");
  expect(await directory.find("../bad key")).toBeUndefined();
  await directory.stop();
});
