import { afterEach, expect, it } from "vitest";
import { Registry } from "prom-client";
import { Unavailable } from "../../domain/errors.ts";
import { createOperatorMetrics } from "../../platform/telemetry/controller-metrics.ts";
import { startHealthServer } from "../../platform/telemetry/health-server.ts";

const listen = { host: "127.0.0.1", port: 0 };
let stop: (() => Promise<void>) | undefined;
afterEach(async () => stop?.());

async function serving(checkReady: () => Promise<void>, registry = new Registry()) {
  const server = await startHealthServer({ listen, checkReady, registry });
  stop = () => server.stop();
  return async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
    return { status: response.status, text: await response.text() };
  };
}

it("is always live, and is ready when the check succeeds", async () => {
  let problem: Error | undefined = new Unavailable("starting");
  const ask = await serving(async () => {
    if (problem !== undefined) throw problem;
  });
  expect(await ask("/healthz")).toEqual({ status: 200, text: "ok\n" });
  expect(await ask("/readyz")).toEqual({ status: 503, text: "starting\n" });
  problem = undefined;
  expect(await ask("/readyz?verbose")).toEqual({ status: 200, text: "ok\n" });
  expect((await ask("/")).status).toBe(404);
});

it("is not ready when the check does not respond", async () => {
  const ask = await serving(() => new Promise(() => undefined));
  expect(await ask("/readyz")).toEqual({ status: 503, text: "no answer within 3000 ms\n" });
});

it("exports the metrics of controllers", async () => {
  const registry = new Registry();
  const metrics = createOperatorMetrics(registry);
  const source = metrics.controller("source");
  source.queue.added();
  source.queue.depth(3);
  source.reconciled("error", 0.2);
  source.reconciled("done", 0.2);
  metrics.leads(true);
  const { text } = await (await serving(() => Promise.resolve(), registry))("/metrics");
  for (const line of [
    'headwater_controller_queue_depth{controller="source"} 3',
    'headwater_controller_queue_adds_total{controller="source"} 1',
    'headwater_controller_reconcile_total{controller="source",result="done"} 1',
    'headwater_controller_reconcile_errors_total{controller="source"} 1',
    'headwater_controller_reconcile_seconds_count{controller="source"} 2',
    "headwater_controller_leader 1",
  ])
    expect(text).toContain(line);
});

it("names the setting of an address that is in use", async () => {
  const server = await startHealthServer({ listen, checkReady: () => Promise.resolve(), registry: new Registry() });
  stop = () => server.stop();
  await expect(
    startHealthServer({ listen: { ...listen, port: server.port }, checkReady: () => Promise.resolve(), registry: new Registry() }),
  ).rejects.toThrow(/HEADWATER_HEALTH_LISTEN: cannot listen on 127\.0\.0\.1:\d+/);
});
