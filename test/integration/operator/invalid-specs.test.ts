import { describe, expect, it } from "vitest";
import { kinds } from "../../../crds/kinds.ts";
import type { Condition, Kind, Resource } from "../../../crds/resource.ts";
import type { ResourceStore } from "../../../crds/resource-store.ts";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import { startOperator } from "../../../operator/start.ts";
import { owner, withOperatorWorld } from "./world.ts";

const world = withOperatorWorld();
const namespace = namespaceOfOwner(owner);
const given: Readonly<Record<string, object>> = {
  Component: { code: "export default {}" },
  Source: { code: "export default {}" },
  Webhook: { url: "https://example.com/" },
  Subscription: { emitter: "dc_*", listener: "wh_1" },
  AutoSubscription: { channel: "$errors", listener: "wh_1" },
  Account: { app: "shop", credentials: {} },
  Workflow: { steps: [] },
};

/** The store of a cluster in which another version accepted invalid specs: every spec is `{}` and marked as invalid. */
function misfitting(store: ResourceStore): ResourceStore {
  const invalidated = <S, T>(resource: Resource<S, T>): Resource<S, T> => ({ ...resource, spec: {} as S, invalid: "spec.field: required" });
  return {
    ...store,
    find: async (kind, of, name) => {
      const found = await store.find(kind, of, name);
      return found && invalidated(found);
    },
    list: async (kind, options) => {
      const page = await store.list(kind, options);
      return { ...page, items: page.items.map(invalidated) };
    },
    async *watch(kind, version, signal) {
      for await (const event of store.watch(kind, version, signal))
        yield event.type === "bookmark" ? event : { ...event, resource: invalidated(event.resource) };
    },
    updateStatus: async (kind, resource) => invalidated(await store.updateStatus(kind, resource)),
  };
}

describe("an operator with resources that violate their schemas", () => {
  it("reports SpecInvalid for each kind, and creates nothing", async () => {
    const { store } = world.ports;
    const own = kinds.filter(({ kind }) => given[kind] !== undefined) as readonly Kind<object, { conditions?: Condition[] }>[]; // Every status has them.
    expect(own).toHaveLength(7);
    for (const kind of own) await store.create(kind, { namespace, name: "odd", spec: kind.spec.parse(given[kind.kind]) });
    const operator = await startOperator(
      { ingressUrl: "http://ingress.test", hookTimeoutMs: 20_000 },
      { ...world.ports, store: misfitting(store) },
    );
    try {
      const readyOf = async (kind: (typeof own)[number]) => {
        const { status, metadata } = await store.get(kind, namespace, "odd");
        const ready = status.conditions?.find(({ type }) => type === "Ready");
        return [kind.kind, ready?.status, ready?.reason, metadata.finalizers.length, metadata.labels];
      };
      const wanted = own.map(({ kind }) => [kind, "False", "SpecInvalid", 0, {}]);
      await expect.poll(() => Promise.all(own.map(readyOf))).toEqual(wanted);
    } finally {
      await operator.stop();
    }
  });
});
