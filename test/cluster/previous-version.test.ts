import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { until } from "../support/until.ts";
import { helm } from "../support/helm.ts";
import {
  askProbe,
  call,
  current,
  deploy,
  type Endpoint,
  install,
  namespace,
  owned,
  previous,
  probeAddress,
  type Release,
  report,
  request,
  state,
} from "./installation.ts";
import { get, kubectl, list } from "./kubectl.ts";
import { countEvents, fillHistory } from "./large-history.ts";
import { countingSources, startLoad } from "./load.ts";
import { deliveredSchema } from "./probe/delivered.ts";

/**
 * Upgrades the previous version to the current one, rolls back and upgrades again, with millions of events and under load. It needs an
 * image and a chart of the previous version: test/cluster/README.md says how to make them.
 */
const suite = previous === undefined ? describe.skip : describe;
const events = Number(process.env["HEADWATER_TEST_EVENTS"] ?? 10_000_000);
const perSecond = Number(process.env["HEADWATER_TEST_REQUESTS_PER_SECOND"] ?? 200);
const allowedGapMs = 10_000;
const queued = { requests: 50, events: 100 };
let sources: readonly Endpoint[] = [];

const delivered = async () => deliveredSchema.parse(await askProbe("/delivered"));

/** Emits many events for an ordered webhook that accepts nothing, so they stay queued in JetStream, and as many that are due tomorrow. */
const queueing = `
export default {
  name: "Queueing",
  props: { http: "$.interface.http" },
  run() {
    for (let n = 0; n < ${queued.events}; n++) {
      this.$emit({ n, text: "x".repeat(200) });
      this.$emit({ n, text: "x".repeat(200) }, { delivery_ts: Date.now() + 86_400_000 });
    }
  },
};`;

async function fillStreams(): Promise<void> {
  const source = await deploy("queueing", queueing);
  const common = { apiVersion: "headwater.dev/v1alpha1", metadata: { name: "queueing", namespace: owned } };
  const url = `http://${await probeAddress()}/refused`;
  const webhook = { ...common, kind: "Webhook", spec: { url, ordered: true } };
  const spec = { emitterRef: { kind: "Source", name: "queueing" }, listenerRef: { kind: "Webhook", name: "queueing" } };
  await kubectl(["apply", "-f", "-"], `${JSON.stringify(webhook)}\n---\n${JSON.stringify({ ...common, kind: "Subscription", spec })}`);
  await kubectl(["-n", owned, "wait", "--for=condition=Ready", "subscription/queueing", "--timeout=60s"]);
  for (let n = 0; n < queued.requests; n++) expect((await request(source.endpoint, "POST", "{}")).status).toBe(200);
}

beforeAll(async () => {
  if (previous === undefined) return;
  sources = await countingSources("large", 4);
  const startedAt = performance.now();
  await fillHistory(events);
  report(`${events} events, and a tenth of it of runs and attempts, inserted in ${seconds(startedAt)} s`);
  await fillStreams();
});

const seconds = (startedAt: number): string => ((performance.now() - startedAt) / 1_000).toFixed(1);

/** Helm does not wait for the pods that end, nor for the runners, which the operator replaces. */
async function untilReplaced({ image }: Release): Promise<void> {
  const roles = "app.kubernetes.io/component in (api,ingress,operator,delivery,builder,runner)";
  let left: readonly string[] = [];
  const isReplaced = async (): Promise<boolean> => {
    const pods = await list("pods", "-n", namespace, "-l", roles);
    left = pods.filter((pod) => imageOf(pod) !== image).map(({ metadata }) => metadata.name);
    return left.length === 0;
  };
  await until(isReplaced, "all pods have the other version's image", { more: () => left.join(" ") });
}

const podSpec = z.object({ containers: z.array(z.object({ image: z.string() })).min(1) });
const imageOf = (pod: object): string | undefined => podSpec.parse("spec" in pod ? pod.spec : undefined).containers[0]?.image;

interface Outcome {
  readonly refused: Readonly<Record<string, number>>;
  readonly missing: number;
  readonly repeated: number;
  readonly isPauseShort: boolean;
}
const nothingLost: Outcome = { refused: {}, missing: 0, repeated: 0, isPauseShort: true };

async function underLoad(step: string, change: () => Promise<void>, release: Release): Promise<Outcome> {
  const load = await startLoad(sources, perSecond);
  await load.more(perSecond * 5);
  const startedAt = performance.now();
  await change().catch(async (error: unknown) => {
    await load.stop();
    throw new Error(`${step}: ${String(error)}\n${await state()}`);
  });
  const helmSeconds = seconds(startedAt);
  await untilReplaced(release);
  const allSeconds = seconds(startedAt);
  await load.more(perSecond * 5);
  const stopped = await load.stop();
  const gapOfLoad = await delivered();
  await until(async () => (await delivered()).missing === 0, "each accepted request is delivered", { more: () => step }).catch(
    () => undefined,
  );
  const { accepted, missing, again, repeated } = await delivered();
  const figures = [
    `helm ${helmSeconds} s, until the last pod is replaced ${allSeconds} s`,
    `${stopped.sent} requests, ${accepted} accepted, refused ${JSON.stringify(stopped.refused)}`,
    `slowest ${Math.round(stopped.slowestMs)} ms`,
    `never delivered ${missing}, delivered again ${again}, under another id ${repeated}`,
    `longest time between deliveries ${gapOfLoad.maxGapMs} ms`,
  ];
  report(`${step}: ${figures.join("; ")}`);
  return { refused: stopped.refused, missing, repeated, isPauseShort: gapOfLoad.maxGapMs <= allowedGapMs };
}

const idOf = async (kind: "source" | "webhook"): Promise<string> => String((await get(kind, "queueing", owned)).status?.["id"]);
const backlogSchema = z.object({ data: z.object({ line: z.object({ count: z.number() }) }) });
const pageSchema = z.object({ page_info: z.object({ total_count: z.number() }) });

async function read(path: string): Promise<unknown> {
  const { status, text } = await call("GET", path);
  expect(status, text).toBe(200);
  return JSON.parse(text);
}
const countListed = async (path: string): Promise<number> => pageSchema.parse(await read(path)).page_info.total_count;

/** The retry schedule of these tests ends after a minute, so one event a minute becomes a dead letter. */
async function countWaiting(): Promise<number> {
  const webhook = await idOf("webhook");
  const { data } = backlogSchema.parse(await read(`/webhooks/${webhook}/backlog`));
  return data.line.count + (await countListed(`/webhooks/${webhook}/dead_letters?limit=1`));
}

const upgrade = async (): Promise<void> => void (await install("upgrade"));
async function rollback(): Promise<void> {
  const { code, stderr } = await helm(["rollback", "headwater", "1", "--namespace", namespace, "--wait", "--timeout", "240s"]);
  if (code !== 0) throw new Error(stderr);
}

suite(`${events} events and ${perSecond} requests per second`, () => {
  const before = previous ?? current;

  it("are upgraded to the current version without a refused request, a lost delivery or a long pause", async () => {
    expect(await underLoad("helm upgrade", upgrade, current)).toEqual(nothingLost);
  });

  it("are rolled back to the previous version, which uses the tables and streams of the current one", async () => {
    expect(await underLoad("helm rollback", rollback, before)).toEqual(nothingLost);
    expect((await call("GET", "/users/me")).status).toBe(200);
  });

  it("are upgraded again", async () => {
    expect(await underLoad("helm upgrade again", upgrade, current)).toEqual(nothingLost);
  });

  it("are still in the history and in the queues", async () => {
    expect(await countEvents()).toBe(events);
    const expected = queued.requests * queued.events;
    let waiting = 0;
    const areQueued = async (): Promise<boolean> => (waiting = await countWaiting()) === expected;
    await until(areQueued, `${expected} events are queued for their webhook or dead letters`, { more: () => `${waiting} are` });
    const source = await idOf("source");
    expect(await countListed(`/sources/${source}/event_summaries?limit=1&event_name=$in`), "scheduled events").toBe(expected);
  });
});
