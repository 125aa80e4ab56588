import { expect, test, vi } from "vitest";
import type { Resource } from "../../crds/resource.ts";
import { Unavailable } from "../../domain/errors.ts";
import type { ChangeLog, OwnedChange } from "../../operator/audit/change.ts";
import { ChangeRecorder } from "../../operator/audit/recorder.ts";
import type { Informer } from "../../operator/controller/informer.ts";

const now = 10_000_000_000;
const within = { timeout: 60_000 };

/** Another client has created it. */
const webhook = (name: string, at = now): Resource => ({
  apiVersion: "headwater.dev/v1alpha1",
  kind: "Webhook",
  metadata: {
    name,
    namespace: "hw-ada",
    uid: `uid-${name}`,
    resourceVersion: "1",
    generation: 1,
    creationTimestamp: new Date(at).toISOString(),
    finalizers: [],
    labels: {},
    annotations: {},
    writers: [{ manager: "kubectl", operation: "Update", at }],
  },
  spec: { url: "https://x.test/" },
  status: {},
});

/** A recorder that leads, the resources it finds at its start, and what it has written. */
function recorderOf(record: ChangeLog["record"], cached: readonly Resource[] = []) {
  const errors: unknown[] = [];
  let listener: ((resource: Resource, deleted: boolean, before: Resource | undefined) => void) | undefined;
  const recorder = new ChangeRecorder({
    clock: { now: () => now },
    maxAgeMs: 1_000_000,
    owners: { ownerOf: () => Promise.resolve("u_ada") },
    changes: { record, assignIds: () => Promise.resolve() },
    log: { info: () => undefined, warn: () => undefined, error: (fields: object) => void errors.push(fields) },
  });
  const informer = {
    onChange: (on: typeof listener) => (listener = on),
    values: () => cached.values(),
  };
  recorder.watch(informer as unknown as Informer<unknown, unknown>); // The two methods that it uses.
  const stopping = new AbortController();
  const leading = recorder.lead(stopping.signal);
  return {
    errors,
    change: (resource: Resource) => listener?.(resource, false, undefined),
    stop: async () => {
      stopping.abort();
      await leading;
    },
  };
}

test("a change is recorded again while the database is down, until it is stored", async () => {
  const stored: string[] = [];
  let failures = 2;
  const recorder = recorderOf(async (changes) => {
    if (failures-- > 0) throw new Unavailable("the database is down");
    stored.push(...changes.map(({ name }) => name));
  });
  recorder.change(webhook("orders"));
  await vi.waitFor(() => expect(stored).toEqual(["orders"]), within);
  await recorder.stop();
});

test("a change that cannot be stored is logged, and keeps no other from being stored", async () => {
  const stored: string[] = [];
  const recorder = recorderOf(async (changes: readonly OwnedChange[]) => {
    if (changes.some(({ name }) => name === "bad")) throw new Error("invalid byte sequence");
    stored.push(...changes.map(({ name }) => name));
  });
  for (const name of ["first", "bad", "last"]) recorder.change(webhook(name));
  await vi.waitFor(() => expect(stored).toEqual(["first", "last"]), within);
  expect(recorder.errors).toEqual([expect.objectContaining({ op: "audit.observe", change: expect.objectContaining({ name: "bad" }) })]);
  await recorder.stop();
});

test("a new leader records the last writes that it finds, but none whose entries may be deleted", async () => {
  const stored: string[] = [];
  const recorder = recorderOf(
    async (changes) => void stored.push(...changes.map(({ name }) => name)),
    [webhook("recent"), webhook("old", now - 2_000_000)],
  );
  await vi.waitFor(() => expect(stored).toEqual(["recent"]), within);
  await recorder.stop();
});

test("changes beyond the bound of the queue are counted in the log", async () => {
  let isDown = true;
  let stored = 0;
  const recorder = recorderOf(async (changes) => {
    if (isDown) throw new Unavailable("the database is down");
    stored += changes.length;
  });
  for (let n = 0; n < 20_010; n++) recorder.change(webhook(`w${n}`));
  isDown = false;
  await vi.waitFor(() => expect(stored).toBe(20_000), within);
  await vi.waitFor(() => expect(recorder.errors).toEqual([{ op: "audit.observe", dropped: 10 }]), within);
  await recorder.stop();
});
