import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { create, deploy, postJson, subscribe } from "../support/system/sources.ts";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { withSystem } from "../support/system/system.ts";
import { until } from "../support/until.ts";

const orders = `export default {
  name: "Orders",
  dedupe: "unique",
  props: { http: "$.interface.http", db: "$.service.db" },
  run({ body }) {
    this.db.set("last", body.order);
    this.$emit({ order: body.order }, { id: "same" });
    this.$emit({ order: body.order }, { id: "same" });
  },
};`;
const relay = `export default { name: "Relay", run(event) { this.$emit(event); } };`;
const action = (run: string): string => `export default { name: "A step", type: "action", version: "1.0.0", props: {}, ${run} };`;

interface Span {
  readonly depth: number;
  readonly kind: string;
  readonly name: string;
  readonly status?: string;
  readonly run_id?: string;
  readonly event_id?: string;
  readonly trace_id?: string;
  readonly started_at_ms: number;
  readonly ended_at_ms: number;
}

const headwater = withSystem();
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

async function spansOf(id: string): Promise<readonly Span[]> {
  const { status, body } = await headwater.call<{ readonly data: { readonly spans: readonly Span[] } }>(
    "GET",
    `/traces/${encodeURIComponent(id)}`,
  );
  return status === 200 ? body.data.spans : [];
}

describe("a request", () => {
  it("is one trace through a source, a listening source, a workflow and a webhook, from each of their ids", async () => {
    const source = await deploy(headwater, orders, {}, { name: "Orders" });
    const listener = await deploy(headwater, relay, {}, { name: "Relay" });
    await subscribe(headwater, source.id, listener.id);
    const workflow = await create(headwater, "/workflows", {
      name: "Billing",
      triggers: [{ source_id: listener.id }],
      steps: [
        { name: "charge", component_code: action(`run() { return 1; }`) },
        { name: "report", component_code: action(`run({ $ }) { $.send.emit({ name: "paid", raw_event: { paid: true } }); }`) },
      ],
    });
    const webhook = await create(headwater, "/webhooks", { url: receiver.url, name: "Shop" });
    await subscribe(headwater, workflow.id, webhook.id, "paid");
    await postJson(source.endpoint, { order: 7 });

    await until(() => receiver.received.length === 1, "the webhook receives the event");
    const webhookId = String(receiver.received[0]?.headers["webhook-id"]);
    let spans: readonly Span[] = [];
    await until(async () => (spans = await spansOf(webhookId)).at(-1)?.kind === "delivery", "the whole trace is recorded");
    const kept = spans.filter(({ kind }) => kind !== "queue" && kind !== "start");
    expect(kept.map(({ kind, name, status }) => [kind, name, status])).toEqual([
      ["event", "HTTP request", undefined],
      ["run", "Orders", "succeeded"],
      ["event", "Event", undefined],
      ["run", "Relay", "succeeded"],
      ["event", "Event", undefined],
      ["run", "Billing", "succeeded"],
      ["step", "charge", "succeeded"],
      ["step", "report", "succeeded"],
      ["event", "paid", undefined],
      ["delivery", "Shop", "succeeded"],
    ]);
    // The code of both sources had to be loaded.
    expect(spans.filter(({ kind }) => kind === "start")).toHaveLength(2);
    for (const { started_at_ms, ended_at_ms } of spans) expect(ended_at_ms).toBeGreaterThanOrEqual(started_at_ms);
    for (const { trace_id } of kept) if (trace_id !== undefined) expect(await spansOf(trace_id)).toEqual(spans);

    const run = await headwater.call<{ readonly data: object }>("GET", `/sources/${source.id}/runs/${kept[1]?.run_id}`);
    expect(run.body.data).toMatchObject({ duplicates: 1, db_changes: [{ prop: "db", key: "last", change: "added", bytes: 1 }] });
    const heard = await headwater.call<{ readonly data: object }>("GET", `/sources/${listener.id}/runs/${kept[3]?.run_id}`);
    expect(heard.body.data).toMatchObject({ trigger: "event", cause: { emitter_id: source.id, emit_id: expect.any(String) } });
  });
});
