import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { createDeliveryMetrics } from "../../platform/telemetry/delivery-metrics.ts";

const backlog = { unrouted: 1, due: 2, scheduled: 3, ordered: 5, unrecorded: 4 };
const streams = [
  { stream: "RUNS", bytes: 7, maxBytes: 10 },
  { stream: "STATE", bytes: 7, maxBytes: -1 },
];

it("counts attempts by listener and outcome, and exports their time, lag and backlog", async () => {
  const registry = new Registry();
  const metrics = createDeliveryMetrics(
    registry,
    async () => backlog,
    async () => streams,
  );
  metrics.attempted("webhook", "retry", 20);
  metrics.attempted("webhook", "delivered", 30);
  metrics.delivered("webhook", -5);
  const text = await registry.metrics();
  expect(text).toContain('headwater_delivery_attempts_total{listener="webhook",outcome="retry"} 1');
  expect(text).toContain('headwater_delivery_attempts_total{listener="source",outcome="delivered"} 0');
  expect(text).toContain('headwater_delivery_attempt_seconds_sum{listener="webhook"} 0.05');
  expect(text).toContain('headwater_delivery_lag_seconds_sum{listener="webhook"} 0');
  expect(text).toContain('headwater_stream_bytes{stream="RUNS"} 7');
  expect(text).toContain('headwater_stream_limit_bytes{stream="RUNS"} 10');
  expect(text).not.toContain('headwater_stream_limit_bytes{stream="STATE"}');
  for (const [state, count] of Object.entries(backlog)) expect(text).toContain(`headwater_delivery_backlog{state="${state}"} ${count}`);
});

it("exports the series of alerts before the first delivery and the first dead letter", async () => {
  const registry = new Registry();
  createDeliveryMetrics(
    registry,
    async () => backlog,
    async () => streams,
  );
  const text = await registry.metrics();
  expect(text).toContain('headwater_delivery_attempts_total{listener="webhook",outcome="dead"} 0');
  expect(text).toContain('headwater_delivery_lag_seconds_bucket{le="15",listener="webhook"} 0');
});

it("omits the backlog while NATS does not respond", async () => {
  const registry = new Registry();
  let answers = true;
  const answer = async <T>(value: T): Promise<T> => {
    if (!answers) throw new Error("no answer");
    return value;
  };
  createDeliveryMetrics(
    registry,
    () => answer(backlog),
    () => answer(streams),
  );
  expect(await registry.metrics()).toContain("headwater_delivery_backlog{");
  answers = false;
  expect(await registry.metrics()).not.toContain("headwater_delivery_backlog{");
  expect(await registry.metrics()).not.toContain("headwater_stream_bytes{");
});
