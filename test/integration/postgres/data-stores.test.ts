import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { operationKeptMs, type StoreOperation } from "../../../domain/data-store/data-stores.ts";
import { createDataStores } from "../../../platform/postgres/data-stores/data-stores.ts";
import { createRegisteredStores, sweepDataStores } from "../../../platform/postgres/data-stores/registered-stores.ts";
import { dataStoresConformance } from "../../conformance/data-stores.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { withDatabase } from "./support.ts";

const postgres = withMigratedPostgres();
const [delivery, api, operator] = [withDatabase("delivery", postgres), withDatabase("api", postgres), withDatabase("operator", postgres)];
const bounds = { entries: 40, bytes: 2_000_000 };
let made = 0;

/** Each store as the role uses it: delivery for runs, the API for its clients, the operator for its resource. */
async function world() {
  made += 1;
  const [owner, store, second] = [`u_${made}`, `ds_${made}a`, `ds_${made}b`];
  let now = 1_000_000;
  const clock = { now: () => now };
  await createRegisteredStores(operator).register({ id: store, owner, name: "orders" });
  await createRegisteredStores(api).register({ id: second, owner, name: "others" });
  const stores = createDataStores(delivery, clock, bounds);
  const perform = (operation: StoreOperation, operationId = "") =>
    stores.perform({ owner, store, operation, ...(operationId === "" ? {} : { operationId }) });
  const pass = (ms: number): void => void (now += ms);
  return { stores, others: createDataStores(api, clock, bounds), owner, store, second, pass, bounds, clock, perform };
}

describe("stores in Postgres", () => {
  dataStoresConformance(world);

  it("are found by the name of their resource, if one has it", async () => {
    const { stores, owner, perform } = await world();
    await stores.perform({ owner, store: "orders", operation: { kind: "set", key: "a", value: "1" } });
    expect(await perform({ kind: "get", key: "a" })).toMatchObject({ entry: { value: "1" } });
  });

  it("are reached by no owner after theirs has lost the namespace, until the next one has it", async () => {
    const { stores, owner, store, perform } = await world();
    await perform({ kind: "set", key: "a", value: "1" });
    for (let times = 0; times < 2; times++) await createRegisteredStores(operator).disown(store);
    await expect(perform({ kind: "get", key: "a" })).rejects.toMatchObject({ code: "data_store_not_found" });
    const next = `${owner}next`;
    await createRegisteredStores(operator).register({ id: store, owner: next, name: "orders" });
    const read = { owner: next, store: "orders", operation: { kind: "get", key: "a" } } as const;
    expect(await stores.perform(read)).toMatchObject({ entry: { value: "1" } });
  });

  it("are deleted with their entries and operations", async () => {
    const { perform, store } = await world();
    await perform({ kind: "set", key: "a", value: "1" }, "op");
    await createRegisteredStores(operator).delete(store);
    await createRegisteredStores(operator).delete(store);
    await expect(perform({ kind: "get", key: "a" })).rejects.toMatchObject({ code: "data_store_not_found" });
    const { rows } = await sql`
      select store from data_store_entries where store = ${store}
      union all select store from data_store_operations where store = ${store}`.execute(delivery.db);
    expect(rows).toEqual([]);
  });

  it("keep their entries when they are registered again", async () => {
    const { perform, owner, store } = await world();
    await perform({ kind: "set", key: "a", value: "1" });
    await createRegisteredStores(operator).register({ id: store, owner, name: "renamed" });
    expect(await perform({ kind: "size" })).toEqual({ kind: "size", entries: 1, bytes: 2 });
    expect(await createRegisteredStores(api).sizes([store, "ds_missing"])).toEqual(new Map([[store, { entries: 1, bytes: 2 }]]));
  });

  it("are refused beyond the number that an owner may have, and not when one is registered again", async () => {
    const { owner, store } = await world();
    const few = createRegisteredStores(operator, 2);
    await few.register({ id: store, owner, name: "again" });
    await expect(few.register({ id: `${store}c`, owner, name: "third" })).rejects.toMatchObject({ status: 429, code: "data_store_full" });
    await few.delete(store);
    await few.register({ id: `${store}c`, owner, name: "third" });
  });

  it("remember as many operations of a store as are kept, the latest", async () => {
    const { perform, clock } = await world();
    for (let n = 0; n < 6; n++) await perform({ kind: "increment", key: "n", by: 1 }, `op-${n}`);
    await perform({ kind: "delete", key: "missing" }, "op-6");
    await sweepDataStores(delivery, clock, 3);
    expect(await perform({ kind: "increment", key: "n", by: 1 }, "op-5")).toMatchObject({ value: 6 });
    expect(await perform({ kind: "increment", key: "n", by: 1 }, "op-0")).toMatchObject({ value: 7 });
  });

  it("lose expired entries and old operations by sweeps", async () => {
    const { perform, store, pass, clock } = await world();
    await perform({ kind: "set", key: "a", value: "1", ttlSeconds: 5 }, "old");
    await perform({ kind: "set", key: "b", value: "1" });
    pass(6_000);
    expect(await createRegisteredStores(api).sizes([store])).toEqual(new Map([[store, { entries: 2, bytes: 4 }]]));
    expect(await sweepDataStores(delivery, clock)).toBe(false);
    expect(await createRegisteredStores(api).sizes([store])).toEqual(new Map([[store, { entries: 1, bytes: 2 }]]));
    const operations = async (): Promise<number> =>
      (await sql`select id from data_store_operations where store = ${store}`.execute(delivery.db)).rows.length;
    expect(await operations()).toBe(1);
    pass(operationKeptMs);
    await sweepDataStores(delivery, clock);
    expect(await operations()).toBe(0);
  });
});
