import { afterAll, beforeAll, expect, it } from "vitest";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startCluster, type Cluster } from "../support/system/cluster.ts";
import { until } from "../support/until.ts";

/** Hundreds of events in one run: the router acks their commit only after it has handed over all of them. */
const burst = 200;
const emitter = `
export default {
  name: "Emitter",
  props: { http: "$.interface.http" },
  run({ body }) { for (let n = 0; n < ${burst}; n++) this.$emit({ event: body.round + "." + n }); },
};`;
/** Counts its runs in the db, without dedupe. */
const counter = `
export default {
  name: "Counter",
  props: { db: "$.service.db" },
  run({ event }) {
    const n = (this.db.get("n") ?? 0) + 1;
    this.db.set("n", n);
    this.$emit({ n, event });
  },
};`;

interface Counted {
  readonly n: number;
  readonly event: string;
}
interface Created {
  readonly data: { readonly id: string; readonly configured_props: { readonly http?: { readonly endpoint_url: string } } };
}

let directory: TemporaryDirectory;
let cluster: Cluster;

beforeAll(async () => {
  directory = await temporaryDirectory("once");
  cluster = await startCluster(directory.path);
});
afterAll(async () => {
  await cluster.stop();
  await directory.remove();
});

async function deploy(code: string): Promise<Created["data"]> {
  const { status, body, text } = await cluster.call<Created>("POST", "/sources", { component_code: code });
  expect(status, text).toBe(200);
  return body.data;
}

async function countedBy(id: string): Promise<readonly Counted[]> {
  const events: Counted[] = [];
  for (let after = ""; ;) {
    const page = await cluster.call<{ page_info: { end_cursor: string }; data: { event: Counted }[] }>(
      "GET",
      `/sources/${id}/event_summaries?limit=100&expand=event${after}`,
    );
    if (page.status !== 200) return []; // Postgres is unavailable; the caller tries again.
    events.push(...page.body.data.map(({ event }) => event));
    if (page.body.data.length < 100) return events;
    after = `&after=${page.body.page_info.end_cursor}`;
  }
}

/**
 * A killed NATS server forgets the ids of earlier invocations. A killed delivery role forgets which events of a commit it has handed
 * over.
 */
it("runs a listener once for each event while NATS and the delivery role are killed", async () => {
  const [source, listener] = [await deploy(emitter), await deploy(counter)];
  await cluster.call("POST", "/subscriptions", { emitter_id: source.id, listener_id: listener.id });
  const rounds = 3;
  let before = await cluster.commits();
  for (let round = 0; round < rounds; round++) {
    const answered = await fetch(source.configured_props.http?.endpoint_url ?? "", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ round }),
    });
    expect(answered.status).toBe(200);
    await until(async () => (await cluster.commits()) > before + burst / 10, "the listener has started to run");
    const back = await cluster.takeAway("nats");
    const killed = cluster.kill("delivery");
    await back();
    await killed;
    const due = burst * (round + 1);
    const runs = async (): Promise<number> => new Set((await countedBy(listener.id)).map(({ event }) => event)).size;
    await until(async () => (await runs()) === due, `each event of round ${round} has run the listener`);
    before = await cluster.commits();
  }
  const counted = await countedBy(listener.id);
  expect(counted).toHaveLength(burst * rounds);
  expect(counted.map(({ n }) => n)).toEqual(Array.from({ length: counted.length }, (_, index) => counted.length - index));
});
