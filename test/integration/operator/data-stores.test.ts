import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dataStoreKind, type DataStoreResource } from "../../../crds/data-store.ts";
import { labels } from "../../../crds/resource.ts";
import { systemClock } from "../../../domain/clock.ts";
import type { StoreOperation } from "../../../domain/data-store/data-stores.ts";
import { startOperator } from "../../../operator/start.ts";
import { createDataStores } from "../../../platform/postgres/data-stores/data-stores.ts";
import { until } from "../../support/until.ts";
import { namespace } from "./workflow-support.ts";
import { owner, withOperatorWorld } from "./world.ts";

/** The operator registers data stores, and deletes their entries with them. */
const world = withOperatorWorld();
let operator: { stop(): Promise<void> };
beforeAll(async () => {
  operator = await startOperator({ ingressUrl: "http://ingress.test", hookTimeoutMs: 20_000 }, world.ports);
});
afterAll(() => operator.stop());

const newName = (): string => `store-${randomBytes(6).toString("hex")}`;

async function untilRegistered(name: string): Promise<DataStoreResource> {
  let found: DataStoreResource | undefined;
  await until(async () => {
    found = await world.ports.store.find(dataStoreKind, namespace, name);
    return found?.status.conditions?.some(({ type, reason }) => type === "Ready" && reason === "Registered") === true;
  }, "the store is registered");
  if (found === undefined) throw new Error("deleted");
  return found;
}
const perform = (store: string, operation: StoreOperation) =>
  createDataStores(world.delivery, systemClock).perform({ owner, store, operation });

describe("a DataStore", () => {
  it("gets an id, and is used by it and by its name", async () => {
    const name = newName();
    await world.ports.store.create(dataStoreKind, { namespace, name, spec: {} });
    const { status, metadata } = await untilRegistered(name);
    expect(status.id).toMatch(/^ds_[0-9a-z]{12}$/);
    expect(metadata.labels[labels.id]).toBe(status.id);
    await perform(status.id ?? "", { kind: "set", key: "a", value: "1" });
    expect(await perform(name, { kind: "get", key: "a" })).toMatchObject({ entry: { value: "1" } });
  });

  it("ends with its entries, and leaves those of others", async () => {
    const [gone, other] = [newName(), newName()];
    for (const name of [gone, other]) {
      await world.ports.store.create(dataStoreKind, { namespace, name, spec: { name: "same" } });
      await untilRegistered(name);
      await perform(name, { kind: "set", key: "a", value: "1" });
    }
    await world.ports.store.delete(dataStoreKind, namespace, gone);
    await until(async () => (await world.ports.store.find(dataStoreKind, namespace, gone)) === undefined, "the store is deleted");
    await expect(perform(gone, { kind: "get", key: "a" })).rejects.toMatchObject({ code: "data_store_not_found" });
    expect(await perform(other, { kind: "size" })).toMatchObject({ entries: 1 });
  });

  it("does not get the id of another store, which its label claims", async () => {
    const [first, second] = [newName(), newName()];
    await world.ports.store.create(dataStoreKind, { namespace, name: first, spec: {} });
    const { status } = await untilRegistered(first);
    await perform(first, { kind: "set", key: "a", value: "1" });
    await world.ports.store.create(dataStoreKind, { namespace, name: second, spec: {}, labels: { [labels.id]: status.id ?? "" } });
    expect((await untilRegistered(second)).status.id).not.toBe(status.id);
    await world.ports.store.delete(dataStoreKind, namespace, second);
    await until(async () => (await world.ports.store.find(dataStoreKind, namespace, second)) === undefined, "the other one is deleted");
    expect(await perform(first, { kind: "size" })).toMatchObject({ entries: 1 });
  });
});
