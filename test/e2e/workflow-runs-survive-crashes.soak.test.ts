import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import { afterAll, beforeAll, expect, it } from "vitest";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startCluster, type Cluster, type Target } from "../support/system/cluster.ts";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { until } from "../support/until.ts";
import { startLoad } from "./support/mixed-load.ts";

/** Each step posts its name, the request and its attempt. The second one suspends the run, and the last one emits. */
const post = `await fetch(this.url, { method: "POST", body: JSON.stringify({ step: this.step, request: steps.trigger.event.query.request, attempt: $.context.attempt }) });`;
const stepCode = (more: string): string =>
  `export default { name: "Step", type: "action", version: "1.0.0", props: { url: "string", step: "string" }, async run({ steps, $ }) { ${post} ${more} } };`;

interface Posted {
  readonly step: string;
  readonly request: string;
  readonly attempt: number;
}
interface Emitted {
  readonly done: string;
}

const requestsPerSecond = 15;
const longerThanAckWaitMs = 13_000;
const agent = new Agent({ connections: 16 });
let directory: TemporaryDirectory;
let cluster: Cluster;
let steps: Receiver;
let emits: Receiver;
let endpoint: string;

beforeAll(async () => {
  directory = await temporaryDirectory("workflow-faults");
  [steps, emits] = [await startReceiver(), await startReceiver()];
  cluster = await startCluster(directory.path);
  const props = (step: string) => ({ url: steps.url, step });
  const { status, body, text } = await cluster.call<{ data: { id: string; triggers: { endpoint_url: string }[] } }>("POST", "/workflows", {
    name: "Durable",
    triggers: [{ type: "http" }],
    steps: [
      { name: "one", component_code: stepCode(""), props: props("one") },
      { name: "two", component_code: stepCode("$.flow.delay(200);"), props: props("two") },
      {
        name: "three",
        component_code: stepCode(`$.send.emit({ raw_event: { done: steps.trigger.event.query.request } });`),
        props: props("three"),
      },
    ],
  });
  expect(status, text).toBe(200);
  endpoint = body.data.triggers[0]?.endpoint_url ?? "";
  const webhook = await cluster.call<{ data: { id: string } }>("POST", "/webhooks", { url: emits.url });
  await cluster.call("POST", "/subscriptions", { emitter_id: body.data.id, listener_id: webhook.body.data.id });
});
afterAll(async () => {
  await cluster.stop();
  await Promise.all([steps.close(), emits.close(), agent.close()]);
  await directory.remove();
});

let requests = 0;
const accepted = new Set<string>();

/** Without a response the request may run or not. */
async function send(): Promise<void> {
  const id = `q${++requests}`;
  const answer = await request(`${endpoint}?request=${id}`, { dispatcher: agent, method: "POST", headersTimeout: 5_000 });
  await answer.body.dump();
  if (answer.statusCode === 200) accepted.add(id);
}

const emitted = (): ReadonlyMap<string, ReadonlySet<string>> => {
  const ids = new Map<string, Set<string>>();
  for (const { body, headers } of emits.received) {
    const { done } = JSON.parse(body) as Emitted;
    ids.set(done, (ids.get(done) ?? new Set()).add(String(headers["webhook-id"])));
  }
  return ids;
};

async function expectNothingLostOrRepeated(): Promise<void> {
  await until(() => [...accepted].every((id) => emitted().has(id)), "each accepted request has an ended run", {
    more: () => {
      const missing = [...accepted].filter((id) => !emitted().has(id));
      return `${missing.length} of ${accepted.size} are missing: ${missing.slice(0, 5).join(", ")}`;
    },
  });
  for (const [id, webhookIds] of emitted()) expect([id, webhookIds.size]).toEqual([id, 1]);
  const posts = steps.received.map(({ body }) => JSON.parse(body) as Posted);
  for (const [key, ofStep] of Map.groupBy(posts, ({ request: id, step }) => `${id} ${step}`)) {
    // A step that a crash has interrupted is executed again, and knows it. The first attempt may have ended before its request.
    const first = ofStep.filter(({ attempt }) => attempt === 1);
    expect([key, first.length <= 1]).toEqual([key, true]);
  }
  for (const [id, ofRun] of Map.groupBy(posts, ({ request: each }) => each)) {
    const order = ofRun.map(({ step }) => ["one", "two", "three"].indexOf(step));
    expect([id, order]).toEqual([id, order.toSorted((a, b) => a - b)]);
  }
}

const targets: readonly Target[] = ["sandbox", "runner", "delivery", "operator", "nats", "postgres"];
it.each(targets)("%s, killed with -9 under load: no run is lost, and no committed step is executed again", async (target) => {
  const loading = startLoad(requestsPerSecond, send);
  await loading.untilMoreAreSent(); // The kill must interrupt work.
  for (let round = 0; round < 3; round++) {
    await cluster.kill(target);
    await loading.untilMoreAreSent();
  }
  // A killed NATS server loses its last acks and redelivers those messages after the ack wait.
  if (target === "nats") await sleep(longerThanAckWaitMs);
  await loading.stop();
  await expectNothingLostOrRepeated();
});
