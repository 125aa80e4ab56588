import { describe, expect, it } from "vitest";
import { webhookKind } from "../../crds/webhook.ts";
import { systemClock } from "../../domain/clock.ts";
import { skipInvalid } from "../../operator/controller/skip-invalid.ts";
import { MemoryStore } from "./memory-store.ts";

const namespace = "shop";
const key = `${namespace}/odd`;
const signal = new AbortController().signal;

/** A store that returns each resource as invalid while `invalid` has a reason. */
async function storeOf(finalizers: readonly string[] = []) {
  const store = new MemoryStore();
  await store.create(webhookKind, { name: "odd", namespace, finalizers, spec: { url: "https://x.test/", active: true, signingKeys: [] } });
  const problem: { invalid: string | undefined } = { invalid: "spec.url: it must be an http or https address" };
  const find: typeof store.find = async (kind, of, name) => {
    const found = await MemoryStore.prototype.find.call(store, kind, of, name);
    return found === undefined || problem.invalid === undefined ? (found as never) : ({ ...found, invalid: problem.invalid } as never);
  };
  return { store, problem, ports: { store: { find, updateStatus: store.updateStatus }, clock: systemClock, newId: () => "wh_new" } };
}

describe("a resource whose spec does not fit its schema", () => {
  it("is reported as SpecInvalid and not reconciled until it is corrected", async () => {
    const { store, problem, ports } = await storeOf();
    let passes = 0;
    const reconcile = skipInvalid(webhookKind, ports, async () => (passes++, 7));
    expect(await reconcile(key, signal)).toBeUndefined();
    const { status } = await store.get(webhookKind, namespace, "odd");
    expect(status.observedGeneration).toBe(1);
    expect(status.conditions?.map(({ type, status: state, reason }) => [type, state, reason])).toEqual([
      ["Ready", "False", "SpecInvalid"],
      ["Reconciling", "False", "SpecInvalid"],
      ["Stalled", "True", "SpecInvalid"],
    ]);
    expect(status.conditions?.[0]?.message).toContain("spec.url: it must be an http or https address");
    expect(status.id).toBe("wh_new");
    const { write } = store.calls;
    await reconcile(key, signal);
    expect([passes, store.calls.write]).toEqual([0, write]);
    problem.invalid = undefined;
    expect(await reconcile(key, signal)).toBe(7);
    expect(passes).toBe(1);
  });

  it("has a message of bounded length", async () => {
    const { store, problem, ports } = await storeOf();
    problem.invalid = "x".repeat(10_000);
    await skipInvalid(webhookKind, ports, async () => undefined)(key, signal);
    const { status } = await store.get(webhookKind, namespace, "odd");
    expect(status.conditions?.[0]?.message).toMatch(/^its spec is invalid in this version .*x…$/);
    expect(status.conditions?.[0]?.message).toHaveLength(2_000);
  });

  it("is reconciled in deletion", async () => {
    const { store, ports } = await storeOf(["headwater.dev/cleanup"]);
    await store.delete(webhookKind, namespace, "odd");
    let passes = 0;
    await skipInvalid(webhookKind, ports, async () => void passes++)(key, signal);
    expect(passes).toBe(1);
  });
});
