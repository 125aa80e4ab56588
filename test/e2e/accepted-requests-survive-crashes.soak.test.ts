import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startCluster, type Cluster, type Target } from "../support/system/cluster.ts";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { until } from "../support/until.ts";

/** Counts its runs in the db, and says which request each count belongs to. */
const counter = `
export default {
  name: "Counter",
  dedupe: "unique",
  props: { http: "$.interface.http", db: "$.service.db" },
  async run({ body }) {
    const n = (this.db.get("n") ?? 0) + 1;
    this.db.set("n", n);
    this.$emit({ n, request: body.request }, { id: body.request });
  },
};`;

interface Counted {
  readonly n: number;
  readonly request: string;
}

const sourceCount = 6;
const requestsPerSecond = 60;
const longerThanAckWaitMs = 13_000;

let directory: TemporaryDirectory;
let cluster: Cluster;
let receiver: Receiver;
const sources: {
  readonly id: string;
  readonly endpoint: string;
  readonly accepted: Set<string>;
  readonly sent: Set<string>;
}[] = [];
const agent = new Agent({ connections: 16 });

beforeAll(async () => {
  directory = await temporaryDirectory("faults");
  receiver = await startReceiver();
  cluster = await startCluster(directory.path);
  for (let n = 0; n < sourceCount; n++) await addSource();
});
afterAll(async () => {
  await cluster.stop();
  await receiver.close();
  await agent.close();
  await directory.remove();
});

async function addSource(): Promise<void> {
  const { status, body, text } = await cluster.call<{
    data: { id: string; configured_props: { http: { endpoint_url: string } } };
  }>("POST", "/sources", { component_code: counter });
  expect(status, text).toBe(200);
  const webhook = await cluster.call<{ data: { id: string } }>("POST", "/webhooks", { url: receiver.url });
  await cluster.call("POST", "/subscriptions", { emitter_id: body.data.id, listener_id: webhook.body.data.id });
  sources.push({
    id: body.data.id,
    endpoint: body.data.configured_props.http.endpoint_url,
    accepted: new Set(),
    sent: new Set(),
  });
}

let requests = 0;

/** Sends one request. A request that is answered 2xx must run, whatever happens afterwards. */
async function send(): Promise<void> {
  const id = `q${++requests}`;
  const source = sources[requests % sources.length];
  if (source === undefined) return;
  source.sent.add(id);
  try {
    const answer = await request(source.endpoint, {
      dispatcher: agent,
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ request: id }),
      headersTimeout: 5_000,
    });
    await answer.body.dump();
    if (answer.statusCode >= 200 && answer.statusCode < 300) source.accepted.add(id);
  } catch {
    // Without an answer the request may run or not.
  }
}

async function untilMoreAreSent(): Promise<void> {
  const before = requests;
  await until(() => requests > before + requestsPerSecond / 2, "more requests were sent");
}

/** Sends requests at a steady rate until `stop` is called. */
function load(): { stop(): Promise<void> } {
  const underWay = new Set<Promise<void>>();
  const timer = setInterval(() => {
    const sent = send().finally(() => underWay.delete(sent));
    underWay.add(sent);
  }, 1_000 / requestsPerSecond);
  return {
    stop: async () => {
      clearInterval(timer);
      await Promise.all(underWay);
    },
  };
}

async function eventsOf(id: string): Promise<readonly Counted[]> {
  const events: Counted[] = [];
  for (let after = ""; ;) {
    const page = await cluster.call<{ page_info: { end_cursor: string }; data: { event: Counted }[] }>(
      "GET",
      `/sources/${id}/event_summaries?limit=100&expand=event${after}`,
    );
    if (page.status !== 200) throw new Error(`event_summaries answers ${page.status} ${page.text}`);
    events.push(...page.body.data.map(({ event }) => event));
    if (page.body.data.length < 100) return events;
    after = `&after=${page.body.page_info.end_cursor}`;
  }
}

const requestsHeard = (): ReadonlySet<string> => new Set(receiver.received.map(({ body }) => (JSON.parse(body) as Counted).request));

async function expectNothingLost(): Promise<void> {
  for (const { id, accepted, sent } of sources) {
    await until(
      async () => {
        const seen = new Set((await eventsOf(id)).map(({ request: one }) => one));
        return [...accepted].every((one) => seen.has(one));
      },
      `each accepted request of ${id} has its event`,
      () => JSON.stringify([accepted.size]),
    );
    const events = await eventsOf(id);
    expect(new Set(events.map(({ request: one }) => one)).size, "each request has one event").toBe(events.length);
    expect(events.every(({ request: one }) => sent.has(one))).toBe(true);
    // The db counted each committed run once. Events are newest first.
    expect(events.map(({ n }) => n)).toEqual(Array.from({ length: events.length }, (_, index) => events.length - index));
    await until(() => {
      const heard = requestsHeard();
      return events.every(({ request: one }) => heard.has(one));
    }, `the webhook receives each event of ${id}`);
  }
  const ids = new Map<string, string>();
  for (const { body, headers } of receiver.received) {
    const { request: one } = JSON.parse(body) as Counted;
    expect(ids.get(one) ?? headers["webhook-id"], "a repeated delivery has the same id").toBe(headers["webhook-id"]);
    ids.set(one, String(headers["webhook-id"]));
  }
}

describe("under load, while runners join and leave", () => {
  it("moves sources between runners without losing a run or committing it twice", async () => {
    const loading = load();
    const before = () => requests;
    for (const leave of ["stop", "kill"] as const) {
      const joined = await cluster.addRunner();
      const together = before() + requestsPerSecond;
      await until(() => requests > together, "both runners run for a while");
      await joined[leave]();
      const alone = before() + requestsPerSecond / 2;
      await until(() => requests > alone, "one runner runs for a while");
    }
    await loading.stop();
    await expectNothingLost();
  });
});

describe("under load, killed with -9 and started again", () => {
  const targets: readonly Target[] = ["sandbox", "runner", "delivery", "operator", "ingress", "api", "builder", "nats", "postgres"];
  it.each(targets)("%s: each accepted request runs once, is stored once and is delivered", async (target) => {
    const loading = load();
    await untilMoreAreSent(); // The kill must interrupt work.
    for (let round = 0; round < 3; round++) {
      await cluster.kill(target);
      await untilMoreAreSent();
    }
    // A killed NATS server loses its last acks and redelivers those messages after the ack wait.
    if (target === "nats") await sleep(longerThanAckWaitMs);
    await loading.stop();
    await expectNothingLost();
    expect(sources.reduce((sum, { accepted }) => sum + accepted.size, 0)).toBeGreaterThan(0);
  });
});

describe("under load, suspended for longer than the ack wait", () => {
  it.each(["nats", "runner", "delivery", "ingress"] as const)(
    "%s: each accepted request runs once, is stored once and is delivered",
    async (target) => {
      const loading = load();
      await untilMoreAreSent();
      await cluster.stall(target, longerThanAckWaitMs);
      await untilMoreAreSent();
      await loading.stop();
      await expectNothingLost();
    },
  );
});
