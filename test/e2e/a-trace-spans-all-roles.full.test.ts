import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCollector, type CollectedSpan, type Collector } from "../support/otlp-collector.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startCluster, type Cluster } from "../support/system/cluster.ts";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { until } from "../support/until.ts";
import type { Called } from "../support/system/client.ts";

/** The spans of an endpoint's trace: name, and the role that exported it. */
const steps = [
  ["POST endpoint", "headwater-ingress"],
  ["invocation.wait", "headwater-runner"],
  ["source.run", "headwater-runner"],
  ["run.commit", "headwater-runner"],
  ["delivery.attempt", "headwater-delivery"],
] as const;

const callers = { trace: "4bf92f3577b34da6a3ce929d0e0e4736", span: "00f067aa0ba902b7" };
const callersTraceparent = `00-${callers.trace}-${callers.span}-01`;

const echo = `export default {
  name: "Echo",
  props: { http: "$.interface.http" },
  run(event) { this.$emit({ text: event.body?.text ?? event.text, saw: event.headers?.traceparent }); },
};`;
const relay = `export default { name: "Relay", run({ text }) { this.$emit({ text: text + " once more" }); } };`;

type Answered = Called<{ data: { id: string; configured_props: { http?: { endpoint_url: string } } } }>;
type Ask = (method: string, path: string, body?: unknown) => Promise<Answered>;

async function asked(ask: Ask, path: string, body: object): Promise<Answered["body"]["data"]> {
  const { status, body: answer, text } = await ask("POST", path, body);
  expect(status, text).toBe(200);
  return answer.data;
}

async function deploy(ask: Ask, code: string): Promise<{ readonly id: string; readonly endpoint: string }> {
  const { id, configured_props } = await asked(ask, "/sources", { component_code: code });
  return { id, endpoint: configured_props.http?.endpoint_url ?? "" };
}

async function listen(ask: Ask, emitter: string, receiver: Receiver): Promise<void> {
  const { id } = await asked(ask, "/webhooks", { url: `${receiver.url}/needle-path?token=needle-token` });
  await asked(ask, "/subscriptions", { emitter_id: emitter, listener_id: id });
}

async function post(endpoint: string, text: string, traceparent?: string, tracestate?: string): Promise<void> {
  const response = await fetch(`${endpoint}/needle-inner?token=needle-query`, {
    method: "POST",
    body: JSON.stringify({ text }),
    headers: {
      "content-type": "application/json",
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(tracestate === undefined ? {} : { tracestate }),
    },
  });
  expect(response.status).toBe(200);
}

interface Heard {
  readonly traceparent: unknown;
  readonly tracestate: unknown;
  readonly event: { readonly text: string; readonly saw?: string };
}

/** The nth delivery of the event with this text. */
async function heard({ received }: Receiver, text: string, nth = 0): Promise<Heard> {
  const find = () => received.filter(({ body }) => body.includes(`"${text}"`))[nth];
  await until(() => find() !== undefined, `the webhook receives '${text}'`);
  const found = find();
  const { traceparent, tracestate } = found?.headers ?? {};
  return { traceparent, tracestate, event: JSON.parse(found?.body ?? "{}") as Heard["event"] };
}

describe("a collector", () => {
  let directory: TemporaryDirectory;
  let collector: Collector;
  let cluster: Cluster;
  let receiver: Receiver;
  const ask: Ask = (method, path, body) => cluster.call(method, path, body);
  beforeAll(async () => {
    directory = await temporaryDirectory("traces");
    collector = await startCollector();
    receiver = await startReceiver();
    cluster = await startCluster(directory.path, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
  });
  afterAll(async () => {
    await cluster.stop();
    await Promise.all([receiver.close(), collector.close()]);
    await directory.remove();
  });

  /** The spans from the start of the trace to the delivery, each the parent of the next. */
  async function traceOf({ traceparent }: Heard): Promise<readonly CollectedSpan[]> {
    const [, trace, last] = String(traceparent).split("-");
    const spans = (): CollectedSpan[] => {
      const found: CollectedSpan[] = [];
      for (let next = last; next !== undefined;) {
        const span = collector.spans.find(({ traceId, spanId }) => traceId === trace && spanId === next);
        if (span === undefined) break;
        found.unshift(span);
        next = span.parentSpanId;
      }
      return found;
    };
    const isComplete = (): boolean => /endpoint$|runs$|replays$/.test(spans()[0]?.name ?? "");
    await until(isComplete, "the collector has all of the trace");
    return spans();
  }
  const namesOf = (spans: readonly CollectedSpan[]) => spans.map(({ name, service }) => [name, service]);

  it("receives one trace from the request to the webhook, which continues the caller's trace", async () => {
    const source = await deploy(ask, echo);
    await listen(ask, source.id, receiver);
    await post(source.endpoint, "traced", callersTraceparent);
    const delivered = await heard(receiver, "traced");
    const spans = await traceOf(delivered);
    expect(namesOf(spans)).toEqual(steps);
    expect(spans.map(({ traceId }) => traceId)).toEqual(steps.map(() => callers.trace));
    expect(spans[0]?.parentSpanId).toBe(callers.span);
    expect(spans.every(({ startMs, endMs }) => startMs <= endMs)).toBe(true);
    expect(delivered.event.saw).toBe(callersTraceparent);
    const run = spans.find(({ name }) => name === "source.run");
    expect(run?.attributes).toMatchObject({ "source.id": source.id, trigger: "http", "run.id": expect.stringMatching(/^r_/) });
  });

  it("receives a trace from an API call through a source that listens to another source", async () => {
    const [source, listener] = [await deploy(ask, echo), await deploy(ask, relay)];
    await asked(ask, "/subscriptions", { emitter_id: source.id, listener_id: listener.id });
    await listen(ask, listener.id, receiver);
    await post(source.endpoint, "with state", callersTraceparent, "vendor=7");
    expect((await heard(receiver, "with state once more")).tracestate).toBe("vendor=7");
    await asked(ask, `/sources/${source.id}/runs`, { event: { text: "relayed" } });
    const spans = await traceOf(await heard(receiver, "relayed once more"));
    const run = steps.slice(1, 4);
    expect(namesOf(spans)).toEqual([["POST /v1/sources/:id/runs", "headwater-api"], ...run, ...run, steps[4]]);
    expect(spans[0]?.parentSpanId).toBeUndefined();
  });

  it("receives a trace that starts with the request for a replay", async () => {
    const source = await deploy(ask, echo);
    await listen(ask, source.id, receiver);
    await post(source.endpoint, "replayed", callersTraceparent);
    await heard(receiver, "replayed");
    const path = `/sources/${source.id}/replays`;
    const replay = async (): Promise<number> => (await cluster.call<{ data: { events: number } }>("POST", path, {})).body.data.events;
    await until(async () => (await replay()) === 1, "the event is in the history");
    const spans = await traceOf(await heard(receiver, "replayed", 1));
    expect(namesOf(spans)).toEqual([["POST /v1/sources/:id/replays", "headwater-api"], steps[4]]);
    expect(spans[0]?.traceId).not.toBe(callers.trace);
  });

  it("receives a new trace when the caller's traceparent is invalid", async () => {
    const source = await deploy(ask, echo);
    await listen(ask, source.id, receiver);
    await post(source.endpoint, "untraced", callersTraceparent.toUpperCase());
    const spans = await traceOf(await heard(receiver, "untraced"));
    expect(namesOf(spans)).toEqual(steps);
    expect(spans[0]?.traceId).not.toBe(callers.trace);
    expect(spans[0]?.parentSpanId).toBeUndefined();
  });

  it("receives no addresses, bodies or keys", async () => {
    const source = await deploy(ask, echo);
    await listen(ask, source.id, receiver);
    await post(source.endpoint, "needle-body");
    await traceOf(await heard(receiver, "needle-body"));
    expect(collector.text()).not.toContain("needle");
    expect(collector.text()).not.toContain(new URL(source.endpoint).pathname.split("/").at(-1));
    expect(collector.spans.map(({ name }) => name)).toEqual(expect.arrayContaining(["component.build", "POST /v1/webhooks"]));
  });
});
