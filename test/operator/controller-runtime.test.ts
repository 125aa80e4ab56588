import { expect, it, vi } from "vitest";
import { webhookKind, type WebhookSpec } from "../../crds/webhook.ts";
import { Conflict, NotFound, Unavailable } from "../../domain/errors.ts";
import type { Leadership } from "../../operator/controller/leadership.ts";
import { Runtime, type RuntimeOptions } from "../../operator/controller/runtime.ts";
import { MemoryStore } from "./memory-store.ts";

const namespace = "hw-u-1";
const spec: WebhookSpec = { url: "https://example.com/", active: true, signingKeys: [] };
const make = (store: MemoryStore, name: string, where = namespace) => store.create(webhookKind, { name, namespace: where, spec });

/** A leadership that a test gives and takes. */
class GivenLeadership implements Leadership {
  leads = false;
  #lead: (signal: AbortSignal) => Promise<void> = () => Promise.resolve();
  #term = new AbortController();
  #led: Promise<void> = Promise.resolve();
  campaign(lead: (signal: AbortSignal) => Promise<void>) {
    this.#lead = lead;
    return { stop: () => this.take() };
  }
  give(): void {
    this.leads = true;
    this.#term = new AbortController();
    this.#led = this.#lead(this.#term.signal);
  }
  async take(): Promise<void> {
    this.leads = false;
    this.#term.abort();
    await this.#led;
  }
}

function world(store: MemoryStore, options: Partial<RuntimeOptions> = {}) {
  const seen: string[] = [];
  const warned: object[] = [];
  const log = { info: () => undefined, warn: (fields: object) => void warned.push(fields), error: () => undefined };
  const runtime = new Runtime({ store, random: () => 0, log, ...options });
  const webhooks = runtime.cache(webhookKind);
  return { runtime, webhooks, seen, warned };
}

it("fills its caches while another process leads, and reconciles everything once it leads", async () => {
  const store = new MemoryStore();
  for (const name of ["a", "b"]) await make(store, name);
  const leadership = new GivenLeadership();
  const { runtime, webhooks, seen } = world(store, { leadership });
  runtime.reconcile("webhook", 2, async (key) => void seen.push(key)).watch(webhooks);
  await runtime.start();
  expect([runtime.hasSynced, webhooks.size, seen]).toEqual([true, 2, []]);
  await expect(runtime.store.create(webhookKind, { name: "c", namespace, spec })).rejects.toBeInstanceOf(Unavailable);
  leadership.give();
  await vi.waitFor(() => expect(seen.toSorted()).toEqual([`${namespace}/a`, `${namespace}/b`]), { timeout: 120_000 });
  await leadership.take();
  await make(store, "c");
  await vi.waitFor(() => expect(webhooks.size).toBe(3), { timeout: 120_000 });
  expect(seen).toHaveLength(2);
  leadership.give();
  await vi.waitFor(() => expect(seen).toHaveLength(5), { timeout: 120_000 });
  await runtime.stop();
});

it("ends every pass before another process can lead, and refuses late writes of such a pass", async () => {
  const store = new MemoryStore();
  const old = await make(store, "a");
  const leadership = new GivenLeadership();
  const { runtime, webhooks } = world(store, { leadership });
  const gate = Promise.withResolvers<void>();
  let outcome: unknown;
  runtime
    .reconcile("webhook", 1, async () => {
      await gate.promise;
      await runtime.store
        .updateStatus(webhookKind, { ...old, status: { observedGeneration: 1 } })
        .catch((error: unknown) => (outcome = error));
      return undefined;
    })
    .watch(webhooks);
  await runtime.start();
  leadership.give();
  let ended = false;
  const taken = leadership.take().then(() => (ended = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(ended).toBe(false);
  gate.resolve();
  await taken;
  expect(outcome).toBeInstanceOf(Unavailable);
  expect(await store.find(webhookKind, namespace, "a")).toMatchObject({ status: {} });
  await runtime.stop();
});

it("retries after a conflict without a warning, and after other errors with one", async () => {
  const store = new MemoryStore();
  await make(store, "a");
  const errors = [new Conflict("another writer was first"), new Unavailable("the builder is unavailable")];
  const results: string[] = [];
  const { runtime, webhooks, warned } = world(store, {
    metrics: () => ({
      queue: { added: () => undefined, waited: () => undefined, retried: () => undefined, depth: () => undefined },
      reconciled: (result) => void results.push(result),
    }),
  });
  runtime
    .reconcile("webhook", 1, async () => {
      const error = errors.shift();
      if (error !== undefined) throw error;
      return undefined;
    })
    .watch(webhooks);
  await runtime.start();
  await vi.waitFor(() => expect(results).toEqual(["conflict", "error", "done"]), { timeout: 120_000 });
  expect(warned).toMatchObject([{ op: "webhook.reconcile", key: `${namespace}/a` }]);
  await runtime.stop();
});

it("logs no warning if the resource was deleted during its pass, and one if something else is missing", async () => {
  const store = new MemoryStore();
  for (const name of ["deleted", "kept"]) await make(store, name);
  const { runtime, webhooks, seen, warned } = world(store);
  runtime
    .reconcile("webhook", 1, async (key) => {
      seen.push(key);
      if (key.endsWith("/deleted") && seen.filter((each) => each === key).length === 1)
        await store.delete(webhookKind, namespace, "deleted");
      if (seen.filter((each) => each === key).length === 1) throw new NotFound("it does not exist");
      return undefined;
    })
    .watch(webhooks);
  await runtime.start();
  await vi.waitFor(() => expect(seen.filter((key) => key.endsWith("/kept"))).toHaveLength(2), { timeout: 120_000 });
  await vi.waitFor(() => expect(seen.filter((key) => key.endsWith("/deleted")).length).toBeGreaterThan(1), { timeout: 120_000 });
  expect(warned).toMatchObject([{ op: "webhook.reconcile", key: `${namespace}/kept` }]);
  await runtime.stop();
});

it("reconciles everything once per resync period, and a namespace on request", async () => {
  const store = new MemoryStore();
  for (let n = 0; n < 40; n++) await make(store, `w${n}`, n < 20 ? namespace : "hw-u-2");
  const { runtime, webhooks, seen } = world(store, { resyncMs: 600 });
  runtime.reconcile("webhook", 4, async (key) => void seen.push(key)).watch(webhooks);
  await runtime.start();
  await vi.waitFor(() => expect(new Set(seen).size).toBe(40), { timeout: 120_000 });
  seen.length = 0;
  await vi.waitFor(() => expect(new Set(seen).size).toBe(40), { timeout: 120_000 });
  seen.length = 0;
  runtime.requeueNamespace("hw-u-2");
  await vi.waitFor(() => expect(new Set(seen.filter((key) => key.startsWith("hw-u-2/"))).size).toBe(20), { timeout: 120_000 });
  await runtime.stop();
});
