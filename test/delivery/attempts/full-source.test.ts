import { expect, it } from "vitest";
import { createDeliverer } from "./deliverer-fixture.ts";
import { decodeDelivery, firstDelivery } from "../../../delivery/routing/delivery.ts";
import type { DeliveryConfig, DeliveryPorts } from "../../../delivery/ports.ts";
import { AdmissionGate, defaultBacklogLimits } from "../../../domain/limits/admission.ts";
import type { Route } from "../../../domain/source/deployment.ts";

const now = 1_000_000;
const route: Route = {
  subscription: "sub_1",
  owner: "u_1",
  emitter: "dc_1",
  channel: "",
  listener: { kind: "source", id: "dc_2", pool: "default" },
};
const event = { emitId: "e1", eventId: "1-0", source: "dc_1", owner: "u_1", channel: "", ts: 1, payload: "{}" };
const report = (sources: readonly string[]) => ({ partitions: [], sources, owners: [] });

it("reschedules a delivery to a source with a full backlog, as the same attempt, and delivers it once the backlog has space", async () => {
  const admission = new AdmissionGate(defaultBacklogLimits);
  const scheduled: { readonly text: string; readonly atMs: number }[] = [];
  const requested: string[] = [];
  const ports = {
    deliveries: {
      schedule: async (_listener: string, _delivery: string, text: string, atMs: number) => void scheduled.push({ text, atMs }),
    },
    invocations: { request: async (_pool: string, source: string) => void requested.push(source) },
    admission,
    clock: { now: () => now },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  } as unknown as DeliveryPorts; // Deliveries to sources reach nothing else.
  const { deliverer, routes } = createDeliverer({ deliveryDeadlineMs: 1_000 } as DeliveryConfig, ports);
  routes.set(route.subscription, route);

  admission.update("default", "r_1", report(["dc_2"]), performance.now());
  await deliverer.attemptFirst(firstDelivery(event, route), { route, atMs: now, waitedMs: 0 });
  const [first] = scheduled;
  expect([requested, scheduled.length, first?.atMs]).toEqual([[], 1, now + 1_000]);
  const again = decodeDelivery(first?.text ?? "");
  expect(again).toEqual(firstDelivery(event, route));
  await deliverer.attemptDue(again);
  expect([requested, scheduled.length]).toEqual([[], 2]);

  admission.update("default", "r_1", report([]), performance.now());
  await deliverer.attemptDue(again);
  expect([requested, scheduled.length]).toEqual([["dc_2"], 2]);
});
