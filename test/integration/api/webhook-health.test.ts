import { describe, expect, it } from "vitest";
import { webhookKind, type WebhookResource } from "../../../crds/webhook.ts";
import { systemClock } from "../../../domain/clock.ts";
import { healthReconciler } from "../../../operator/health/refresh-health.ts";
import { createOutcomes } from "../../../platform/postgres/history/outcomes.ts";
import { until } from "../../support/until.ts";
import { withRepairWorld } from "./webhooks-support.ts";

const world = withRepairWorld();
const { api } = world;
const signal = new AbortController().signal;

const resourceOf = async (id: string): Promise<WebhookResource> => {
  const found = await api.store.findById(webhookKind, id);
  if (found === undefined) throw new Error(`webhook ${id} is gone`);
  return found;
};
const get = async (id: string) => (await world.get(`/v1/webhooks/${id}`)).data;

/** The operator's refresh, as it is after a start of the operator. @returns how many statuses it has written */
function refresher(webhook: string, clock = systemClock) {
  let written = 0;
  const store: typeof api.store = {
    find: (kind, namespace, name) => api.store.find(kind, namespace, name),
    updateStatus: async (kind, resource) => {
      written++;
      return api.store.updateStatus(kind, resource);
    },
  } as typeof api.store;
  let resources: readonly WebhookResource[] = [];
  const ports = { store, clock, outcomes: createOutcomes(api.database) };
  const refresh = healthReconciler(ports, { webhooks: () => resources, workflows: () => [] });
  return async (): Promise<number> => {
    const before = written;
    resources = [await resourceOf(webhook)];
    await refresh("all", signal);
    return written - before;
  };
}

describe("the health of a webhook", () => {
  it("is active before its first delivery, and paused with its switch", async () => {
    const { id } = await world.createWebhook("https://example.com/hook");
    expect(await get(id)).toMatchObject({ state: "active", problem: null, success_rate: null, circuit_open_until: null });
    expect((await api.ask("PUT", `/v1/webhooks/${id}`, { body: { active: false } })).body.data).toMatchObject({
      active: false,
      state: "paused",
    });
    await world.observe(id);
    expect((await resourceOf(id)).status).toMatchObject({ state: "paused" });
  });

  it("shows an endpoint that fails, its open circuit and its recovery in REST and in the status, while its switch stays on", async () => {
    const receiver = await world.receive();
    receiver.status = 503;
    const { id } = await world.subscribedWebhook(receiver.url);
    const refresh = refresher(id);
    await world.deliver({}, { nextAttempt: () => 10 });
    await world.emit(...Array.from({ length: 12 }, (_, n) => ({ n })));
    await until(async () => (await get(id)).state === "circuit_open");
    const open = await get(id);
    expect(open).toMatchObject({ active: true, success_rate: 0 });
    expect(open.problem).toMatchObject({
      code: "circuit_open",
      message: expect.stringMatching(
        /^the last \d+ attempts failed: the endpoint answered 503\. The circuit is open: one attempt at a time/,
      ),
    });
    expect(open.problem.since).toBeGreaterThan(Date.now() / 1_000 - 600);
    expect((await world.get("/v1/users/me/webhooks?limit=1")).data[0]).toMatchObject({ id, state: "circuit_open" });
    await until(async () => (await get(id)).circuit_open_until > Date.now() / 1_000);

    expect(await refresh()).toBe(1);
    expect((await resourceOf(id)).status).toMatchObject({ state: "circuit_open", problem: { code: "circuit_open" }, successRate: 0 });
    await world.observe(id);
    expect((await resourceOf(id)).status.state).toBe("circuit_open");
    expect(await refresh()).toBe(0);

    receiver.status = 200;
    await until(async () => (await get(id)).state === "degraded");
    expect((await get(id)).problem).toMatchObject({ code: "attempts_failed" });
    expect(await refresh()).toBe(1);
    expect((await resourceOf(id)).status).toMatchObject({ state: "degraded", problem: { code: "attempts_failed" } });
    // Earlier attempts no longer count.
    expect((await api.ask("PUT", `/v1/webhooks/${id}`, { body: { active: true } })).body.data.state).toBe("active");
  });

  it("is not changed by tests", async () => {
    const receiver = await world.receive();
    receiver.status = 500;
    const { id } = await world.createWebhook(receiver.url);
    await world.deliver();
    expect((await api.ask("POST", `/v1/webhooks/${id}/test`, { body: {} })).body.data.outcome).toBe("failed");
    expect(await get(id)).toMatchObject({ state: "active", success_rate: null });
  });

  it("is failing with the reason while nothing may be posted to its URL", async () => {
    const { id } = await world.createWebhook("http://10.0.0.1/hook");
    expect(await get(id)).toMatchObject({ active: true, state: "failing", problem: { code: "url_forbidden" } });
    expect((await resourceOf(id)).status).toMatchObject({ state: "failing", problem: { code: "url_forbidden" } });
  });

  it("is disabled after a 410", async () => {
    const receiver = await world.receive();
    receiver.status = 410;
    const { id } = await world.subscribedWebhook(receiver.url);
    await world.deliver();
    await world.emit({ n: 1 });
    await until(async () => (await get(id)).state === "disabled");
    expect(await get(id)).toMatchObject({ problem: { code: "endpoint_gone", message: expect.stringContaining("answered 410 Gone") } });
    await world.observe(id);
    expect((await resourceOf(id)).status).toMatchObject({ state: "disabled", problem: { code: "endpoint_gone" } });
    expect(await get(id)).toMatchObject({ active: false, state: "disabled" });
  });
});
