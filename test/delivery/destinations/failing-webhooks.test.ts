import { expect, it, onTestFinished, vi } from "vitest";
import { FailingWebhooks } from "../../../delivery/destinations/failing-webhooks.ts";
import { firstDelivery } from "../../../delivery/routing/delivery.ts";
import type { DeliveryPorts } from "../../../delivery/ports.ts";

const webhook = { kind: "webhook", id: "wh_1", url: "http://a", keys: [] } as const;
const event = { emitId: "e1", eventId: "1-0", source: "dc_1", owner: "u_1", channel: "", payload: "{}", ts: 1 };
const delivery = firstDelivery(event, { subscription: "sub_1", owner: "u_1", emitter: "dc_1", channel: "", listener: webhook });

it("posts nothing after a 410, also if stored records are loaded before the new record is stored", async () => {
  const [stopping, reported] = [new AbortController(), Promise.withResolvers<void>()];
  onTestFinished(() => stopping.abort());
  const history = {
    listFailingWebhooks: vi.fn<() => Promise<[]>>(async () => []),
    saveWebhookFailures: vi.fn<() => Promise<void>>(async () => undefined),
  };
  const ports = { history, log: { info() {}, warn() {}, error() {} } } as unknown as DeliveryPorts;
  const failing = new FailingWebhooks({}, ports, () => reported.promise);
  await failing.follow(stopping.signal);
  const outcome = { outcome: "listener_gone", status: 410, error: "410 Gone" } as const;
  const recorded = failing.record(delivery, webhook, { outcome, at: 5, durationMs: 1 });
  // The first load, the look of the record, and two loads while the record is not stored.
  await vi.waitFor(() => expect(history.listFailingWebhooks.mock.calls.length).toBeGreaterThanOrEqual(4), { timeout: 120_000 });
  expect(failing.disabled(webhook)).toBeDefined();
  reported.resolve();
  expect(await recorded).toBeDefined();
  expect(history.saveWebhookFailures).toHaveBeenCalledTimes(1);
});
