import { createHash, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import type { ComponentResource } from "../../../crds/component.ts";
import { deploymentKey } from "../../../domain/subjects.ts";
import { bundleSweeper } from "../../../operator/component/bundle-sweep.ts";
import { Bucket } from "../../../platform/jetstream/buckets/bucket.ts";
import { openBundleStore } from "../../../platform/jetstream/bundles/bundle-store.ts";
import { openBlobStore } from "../../../platform/jetstream/bundles/object-store.ts";
import { readOwnerBytes } from "../../../platform/jetstream/bundles/owner-bytes.ts";
import { createStoredBundles } from "../../../platform/jetstream/bundles/stored-bundles.ts";
import { deployment } from "../../runner/support.ts";
import { withJetStream } from "./support.ts";

const mebibyte = 2 ** 20;
/** The store of bundles has 5 % of it: 10 MiB. */
const nats = withJetStream({ storeBytes: 200 * mebibyte });
const graceMs = 3_600_000;

const hashOf = (text: Uint8Array): string => createHash("sha256").update(text).digest("hex");

async function store(owner: string, bytes = 1_000): Promise<string> {
  const text = randomBytes(bytes);
  const hash = hashOf(text);
  await openBundleStore(nats.connection).store({ hash, text, map: Buffer.from("{}") }, owner);
  return hash;
}

/** The sweep of an operator whose clock is `laterMs` ahead; components of the owner `u_component` have the given bundles. */
function sweeper(laterMs: () => number, components: readonly string[] = []) {
  const bundles = createStoredBundles(nats.connection, 0);
  const ports = { bundles, owners: { ownerOf: async () => "u_component" }, clock: { now: () => Date.now() + laterMs() } };
  const built = components.map((bundle) => ({ metadata: { namespace: "n" }, status: { build: { bundle } } }) as ComponentResource); // All that it reads.
  const pass = bundleSweeper(ports, { values: () => built }, { intervalMs: 1, graceMs });
  return { bundles, pass: () => pass("all", new AbortController().signal) };
}

const isStored = (hash: string): Promise<boolean> => openBlobStore(nats.connection).renew(hash);
const deployments = () => new Bucket<unknown>(nats.connection, "DEPLOYMENTS", (json) => json);
const versions = () => new Bucket<unknown>(nats.connection, "VERSIONS", (json) => json);
const streamBytes = async (): Promise<number> => (await nats.connection.manager.streams.info("OBJ_BUNDLES")).state.bytes;

test("keeps bundles of deployments, versions and components, and deletes others after the grace period", async () => {
  const [source, step, version, component, unused] = await Promise.all(["u_1", "u_1", "u_1", "u_1", "u_1"].map((owner) => store(owner)));
  await deployments().put(deploymentKey("default", "dc_1"), { ...deployment, owner: "u_1", bundle: source });
  await deployments().put(deploymentKey("default", "p_1-d_1"), { workflow: "p_1", owner: "u_1", steps: [{ bundle: step }] });
  await deployments().put(deploymentKey("old", "dc_1"), { source: "dc_1", movedTo: "default" });
  await versions().put("dc_1", { deployment: { ...deployment, owner: "u_1", bundle: version }, build: { bundle: version } });
  await versions().put("p_1.d_1", { deployment: "d_1", deployedAt: 1, steps: [] });
  const all = [source, step, version, component, unused].map(String);
  const stored = () => Promise.all(all.map(isStored));
  let laterMs = 0;
  const { pass } = sweeper(() => laterMs, [String(component)]);
  await pass();
  laterMs = graceMs - 60_000;
  await pass();
  expect(await stored()).toEqual([true, true, true, true, true]);
  laterMs = graceMs + 60_000;
  await pass();
  expect(await stored()).toEqual([true, true, true, true, false]);
  await expect(openBlobStore(nats.connection).get(`${unused}.map`)).rejects.toMatchObject({ code: "not_found" });
  expect((await openBlobStore(nats.connection).get(String(source))).length).toBe(1_000);
  // The component's owner is charged for the bundle that the other owner had built and no longer refers to.
  expect((await readOwnerBytes(nats.connection, "u_1")).bytes).toBe(3 * 1_002);
  expect((await readOwnerBytes(nats.connection, "u_component")).bytes).toBe(1_002);
});

test("keeps a bundle that a build renews while the sweep runs", async () => {
  const hash = await store("u_renewed");
  const { bundles } = sweeper(() => 0);
  const listed = (await bundles.list()).find((each) => each.hash === hash);
  expect(listed).toMatchObject({ owner: "u_renewed", bytes: 1_002 });
  expect(await openBlobStore(nats.connection, 0).renew(hash)).toBe(true);
  expect(listed && (await bundles.delete(listed))).toBe(false);
  expect((await openBlobStore(nats.connection).get(hash)).length).toBe(1_000);
});

test("deletes parts of interrupted writes, and none of bundles", async () => {
  const hash = await store("u_parts");
  await nats.connection.publisher.publish("$O.BUNDLES.C.interrupted", randomBytes(1_000));
  const { bundles } = sweeper(() => 0);
  const kept = await bundles.list();
  const parts = async () =>
    Object.keys((await nats.connection.manager.streams.info("OBJ_BUNDLES", { subjects_filter: "$O.BUNDLES.C.*" })).state.subjects ?? {});
  await bundles.deleteOtherParts(kept, Date.now() - graceMs);
  expect(await parts()).toContain("$O.BUNDLES.C.interrupted");
  await bundles.deleteOtherParts(kept, Date.now() + 1_000);
  expect(await parts()).not.toContain("$O.BUNDLES.C.interrupted");
  expect((await openBlobStore(nats.connection).get(hash)).length).toBe(1_000);
});

test("refuses an owner who has filled its share, stores bundles of others, and frees the share after the owner deletes everything", async () => {
  const fill = async (): Promise<void> => {
    for (let stored = 0; stored < 21; stored++) await store("u_flood", mebibyte / 2);
  };
  await expect(fill()).rejects.toMatchObject({ status: 429, code: "bundles_full" });
  const full = await streamBytes();
  for (let stored = 0; stored < 3; stored++) await store("u_quiet", mebibyte / 2);
  await expect(store("u_flood", mebibyte / 2)).rejects.toMatchObject({ code: "bundles_full" });
  let laterMs = 0;
  const { pass } = sweeper(() => laterMs);
  await pass();
  laterMs = graceMs + 60_000;
  await pass();
  expect(await streamBytes()).toBeLessThan(full / 10);
  await store("u_flood", mebibyte / 2);
});
