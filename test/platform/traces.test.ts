import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startTraces, type StartedTraces } from "../../platform/telemetry/traces.ts";
import { startCollector, type Collector } from "../support/otlp-collector.ts";

const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
const [recorded, unrecorded] = [`00-${trace}-00f067aa0ba902b7-01`, `00-${trace}-00f067aa0ba902b7-00`];

describe("traces", () => {
  let collector: Collector;
  let warnings: object[];
  let started: StartedTraces[];
  beforeEach(async () => {
    collector = await startCollector();
    [warnings, started] = [[], []];
  });
  afterEach(async () => {
    await Promise.all(started.map((traces) => traces.stop()));
    await collector.close();
  });
  const start = (share: number, endpoint = collector.url): StartedTraces => {
    const log = { warn: (fields: object) => void warnings.push(fields) };
    const traces = startTraces({ endpoint, share, service: "headwater-test", version: "0.0.0", log });
    started.push(traces);
    return traces;
  };

  it("are sent at shutdown, with parent, duration and error", async () => {
    const traces = start(1);
    const startedAt = Date.now() - 5_000;
    const outer = traces.start("outer", { kind: "server", traceparent: recorded, startedAt, attributes: { "source.id": "dc_1" } });
    const inner = traces.start("inner", { kind: "client", traceparent: outer.traceparent });
    inner.end({ error: "503", attributes: { attempt: 2 } });
    outer.end({ name: "outer renamed" });
    await traces.stop();
    const [first, second] = collector.spans;
    expect(first).toMatchObject({ name: "inner", traceId: trace, service: "headwater-test", attributes: { "error.type": "503" } });
    expect(second).toMatchObject({ name: "outer renamed", traceId: trace, parentSpanId: "00f067aa0ba902b7" });
    expect(first?.parentSpanId).toBe(second?.spanId);
    expect(second?.startMs).toBe(startedAt);
    expect(outer.traceparent).toBe(`00-${trace}-${second?.spanId}-01`);
  });

  it("are not recorded if their caller's are not, and pass on its traceparent", async () => {
    const traces = start(1);
    const span = traces.start("unrecorded", { traceparent: unrecorded });
    expect(span.traceparent).toBe(unrecorded);
    span.end();
    await traces.stop();
    expect(collector.spans).toEqual([]);
  });

  it("are sampled by the configured share unless the caller has decided", async () => {
    const traces = start(0);
    const root = traces.start("root", {});
    expect(root.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    traces.start("follows", { traceparent: root.traceparent }).end();
    root.end();
    traces.start("caller's", { traceparent: recorded }).end();
    await traces.stop();
    expect(collector.spans.map(({ name }) => name)).toEqual(["caller's"]);
  });

  it("are lost when a collector refuses them, which is logged once", async () => {
    const refusing = await startCollector(400);
    const traces = start(1, refusing.url);
    for (let n = 0; n < 2_000; n++) traces.start(`lost ${n}`, {}).end();
    await traces.stop();
    expect(warnings).toEqual([{ op: "traces.send", cause: expect.any(String) }]);
    await refusing.close();
  });
});
