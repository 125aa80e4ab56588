import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ResourceStore } from "../../../crds/resource-store.ts";
import type { Resource } from "../../../crds/resource.ts";
import { subscriptionKind, type SubscriptionSpec, type SubscriptionStatus } from "../../../crds/subscription.ts";
import { HeadwaterError } from "../../../domain/errors.ts";
import { createDatabase, type Database } from "../../../platform/postgres/connection.ts";
import { createPostgresResourceStore } from "../../../platform/postgres/resources/resource-store.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";

const postgres = withMigratedPostgres();
let databases: Database[];

beforeAll(async () => {
  databases = (["operator", "api", "operator", "api"] as const).map((role) =>
    createDatabase({ url: postgres.urlOf(role), connections: 4 }),
  );
});
afterAll(() => Promise.all(databases.map((database) => database.close())));

type Subscription = Resource<SubscriptionSpec, SubscriptionStatus>;
type Step = {
  readonly act: "create" | "update" | "status" | "delete" | "release";
  readonly name: string;
  readonly text: string;
};

const step: fc.Arbitrary<Step> = fc.record({
  act: fc.constantFrom("create", "create", "update", "status", "delete", "release"),
  name: fc.constantFrom("a", "b", "c", "d", "e"),
  text: fc.stringMatching(/^[a-z]{1,4}$/),
});

/** Losing a race, or the connection, is expected; any other error is not. */
const expected = new Set(["conflict", "already_exists", "not_found", "database_unavailable"]);

async function play(store: ResourceStore, namespace: string, steps: readonly Step[]): Promise<void> {
  for (const each of steps) {
    await apply(store, namespace, each).catch((error: unknown) => {
      if (!(error instanceof HeadwaterError) || !expected.has(error.code)) throw error;
    });
  }
}

async function apply(store: ResourceStore, namespace: string, { act, name, text }: Step): Promise<void> {
  const spec = { emitter: "dc_a", listener: "wh_a", channel: text };
  if (act === "create")
    return void (await store.create(subscriptionKind, {
      name,
      namespace,
      spec,
      finalizers: text < "m" ? ["headwater.dev/cleanup"] : [],
    }));
  if (act === "delete") return store.delete(subscriptionKind, namespace, name);
  const found = await store.get(subscriptionKind, namespace, name);
  if (act === "update") await store.update(subscriptionKind, { ...found, spec });
  if (act === "status") await store.updateStatus(subscriptionKind, { ...found, status: { id: text } });
  if (act === "release") await store.update(subscriptionKind, { ...found, metadata: { ...found.metadata, finalizers: [] } });
}

/** The state of a client that lists once and then only watches, sometimes restarting from the last reported version. */
async function rebuild(store: ResourceStore, namespace: string, state: Map<string, Subscription>, signal: AbortSignal): Promise<void> {
  const list = await store.list(subscriptionKind, { limit: 1_000 });
  for (const item of list.items) if (item.metadata.namespace === namespace) state.set(item.metadata.name, item);
  let version = list.resourceVersion;
  for (let round = 3; !signal.aborted; round++) {
    let events = 0;
    for await (const event of store.watch(subscriptionKind, version, signal)) {
      const reported = event.type === "bookmark" ? event.resourceVersion : event.resource.metadata.resourceVersion;
      if (Number(reported) < Number(version)) throw new Error(`version ${reported} was reported after ${version}`);
      version = reported;
      if (event.type !== "bookmark" && event.resource.metadata.namespace === namespace) applyEvent(state, event.type, event.resource);
      if (++events > round) break;
    }
  }
}

function applyEvent(state: Map<string, Subscription>, type: "added" | "modified" | "deleted", resource: Subscription): void {
  if (type === "deleted") state.delete(resource.metadata.name);
  else state.set(resource.metadata.name, resource);
}

const killAll = "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";

async function eventually(check: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + 120_000;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

describe("a watch under fire", () => {
  test("a client that only watches has the state of a list, although writers race and connections are killed", async () => {
    let namespaces = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { minLength: 5, maxLength: 25 }), { minLength: 3, maxLength: 3 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 3 }),
        async (players, kills) => {
          const namespace = `fire-${namespaces++}`;
          const stores = databases.map((database) =>
            createPostgresResourceStore(database, { timing: { pollMs: 10_000, pollDisconnectedMs: 50, bookmarkMs: 20 } }),
          );
          const [watched, ...written] = stores as [ResourceStore, ...ResourceStore[]];
          const stop = new AbortController();
          const states = [watched, ...written.slice(0, 1)].map(() => new Map<string, Subscription>());
          await eventually(async () => void (await watched.list(subscriptionKind, { limit: 1 })));
          const watching = states.map((state, n) => rebuildPatiently(stores[n] as ResourceStore, namespace, state, stop.signal));
          const playing = players.map((steps, n) => play(written[n] as ResourceStore, namespace, steps));
          for (const waitMs of kills) {
            await new Promise((resolve) => setTimeout(resolve, waitMs));
            await postgres.client.query(killAll);
          }
          await Promise.all(playing);
          await eventually(async () => {
            const { items } = await watched.list(subscriptionKind, { namespace });
            const truth = new Map(items.map((item) => [item.metadata.name, item]));
            for (const state of states) expect(new Map([...state].toSorted())).toEqual(new Map([...truth].toSorted()));
          });
          stop.abort();
          await Promise.all(watching);
        },
      ),
      { numRuns: 15 },
    );
  });
});

/** Only the list may fail, when its connection is killed; then the client lists again. */
async function rebuildPatiently(
  store: ResourceStore,
  namespace: string,
  state: Map<string, Subscription>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      return await rebuild(store, namespace, state, signal);
    } catch (error) {
      if (!(error instanceof HeadwaterError) || error.code !== "database_unavailable") throw error;
      state.clear();
    }
  }
}
