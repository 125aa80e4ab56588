import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withSystem } from "../support/system/system.ts";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { until } from "../support/until.ts";
import { createWebhook, deploy, postJson, subscribe } from "../support/system/sources.ts";

const emitter = `
export default {
  name: "Emitter",
  props: { http: "$.interface.http" },
  run({ body }) {
    console.log("says " + body.say);
    for (let n = 0; n < (body.times ?? 1); n++) this.$emit({ say: body.say, n });
    if (body.custom !== undefined) this.$emit({ say: body.say }, { name: body.custom });
    if (body.fail !== undefined) throw new Error(body.fail);
  },
};`;
/** Emits each event again, with its own name prepended to the path. */
const listener = `
export default {
  name: "Listener",
  props: { me: "string" },
  run(event) { this.$emit({ ...event, path: [...(event.path ?? []), this.me] }); },
};`;

interface ErrorEvent {
  readonly original_event: { readonly bodyRaw: string; readonly body: unknown };
  readonly error: { readonly message: string };
}
interface Heard {
  readonly say: string;
  readonly n?: number;
  readonly path?: readonly string[];
}

const headwater = withSystem();
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
});

const post = async (endpoint: string, body: object): Promise<void> => expect((await postJson(endpoint, body)).status).toBe(200);

async function eventsOf(id: string): Promise<readonly Heard[]> {
  const events: Heard[] = [];
  for (let after = ""; ;) {
    const { body } = await headwater.call<{ page_info: { end_cursor: string }; data: { event: Heard }[] }>(
      "GET",
      `/sources/${id}/event_summaries?limit=100&expand=event${after}`,
    );
    events.push(...body.data.map(({ event }) => event));
    if (body.data.length < 100) return events;
    after = `&after=${body.page_info.end_cursor}`;
  }
}

const remove = async (...ids: readonly string[]): Promise<void> => {
  for (const id of ids)
    expect((await headwater.call("DELETE", `/${id.startsWith("wh_") ? "webhooks" : "sources"}/${id}`)).status).toBe(204);
};
const webhook = ({ url }: Receiver = receiver): Promise<string> => createWebhook(headwater, url);
const heard = (): readonly string[] => receiver.received.map(({ body }) => body);

describe("a source that listens to a source", () => {
  it("runs with each of 200 events, once and in order", async () => {
    const [a, b] = [await deploy(headwater, emitter), await deploy(headwater, listener, { me: "b" })];
    await subscribe(headwater, a.id, b.id);
    for (let run = 0; run < 10; run++) await post(a.endpoint, { say: String(run), times: 20 });
    await until(async () => (await eventsOf(b.id)).length >= 200, "the listener has run 200 times");
    const events = (await eventsOf(b.id)).toReversed();
    expect(events).toEqual((await eventsOf(a.id)).toReversed().map((event) => ({ ...event, path: ["b"] })));
    await remove(a.id, b.id);
  });

  it("stops at the hop limit in a cycle, and reports the cycle", async () => {
    const [a, b, c] = [
      await deploy(headwater, emitter),
      await deploy(headwater, listener, { me: "b" }),
      await deploy(headwater, listener, { me: "c" }),
    ];
    const errors = await webhook();
    await subscribe(headwater, a.id, b.id);
    await subscribe(headwater, b.id, c.id);
    await subscribe(headwater, c.id, b.id);
    for (const id of [b.id, c.id]) await subscribe(headwater, id, errors, "$errors");
    const errorCount = (): number => heard().filter((body) => body.includes("hop_limit")).length;
    const runsOf = async (say: string): Promise<number> =>
      [...(await eventsOf(b.id)), ...(await eventsOf(c.id))].filter((event) => event.say === say).length;
    await post(a.endpoint, { say: "first" });
    await until(() => errorCount() >= 1, "an error reports the cycle");
    const [error] = heard().filter((body) => body.includes("hop_limit"));
    expect(error).toMatch(new RegExp(`the sources form a cycle: (${b.id} → ${c.id} → ${b.id}|${c.id} → ${b.id} → ${c.id})\\.`));
    // Webhooks receive the events of a run before the history has them.
    await until(async () => (await runsOf("first")) >= 100, "each run of the first event is in the history");
    // A second event passes through the cycle: long enough to show whether the first one continues.
    await post(a.endpoint, { say: "second" });
    await until(() => errorCount() >= 2, "an error reports the cycle of the second event");
    await until(async () => (await runsOf("second")) >= 100, "each run of the second event is in the history");
    expect([await runsOf("first"), await runsOf("second")]).toEqual([100, 100]);
    await remove(a.id, b.id, c.id, errors);
  });

  it("receives events of all other sources of its owner, but not its own", async () => {
    const [a, b, all] = [
      await deploy(headwater, emitter),
      await deploy(headwater, emitter),
      await deploy(headwater, listener, { me: "all" }),
    ];
    await subscribe(headwater, "dc_*", all.id);
    await post(a.endpoint, { say: "from a" });
    await post(b.endpoint, { say: "from b" });
    await until(async () => (await eventsOf(all.id)).length >= 2, "both events have run the listener");
    // Runs and deliveries are in order: its own events would have arrived before this one.
    await post(a.endpoint, { say: "from a again" });
    await until(async () => (await eventsOf(all.id)).some(({ say }) => say === "from a again"), "the later event has run the listener");
    expect((await eventsOf(all.id)).map(({ say, path }) => [say, path]).toSorted()).toEqual([
      ["from a again", ["all"]],
      ["from a", ["all"]],
      ["from b", ["all"]],
    ]);
    await remove(a.id, b.id, all.id);
  });
});

/** Emits each event with the metadata that the run received. */
const reporter = `
export default {
  name: "Reporter",
  run(event, metadata) { this.$emit({ event, metadata }); },
};`;
/** Emits with an id and a summary. */
const namer = `
export default {
  name: "Namer",
  props: { http: "$.interface.http" },
  run({ body }, metadata) { this.$emit({ direct: metadata === undefined }, { id: body.id, summary: body.summary, name: "named", ts: 1795000000000 }); },
};`;
/** Has no function `run`. */
const relay = `export default { name: "Relay", props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 86400 } } } };`;

describe("a source that listens", () => {
  it("receives the event's metadata with the event, in deliveries, replays and manual runs", async () => {
    const [a, b] = [await deploy(headwater, namer), await deploy(headwater, reporter)];
    await subscribe(headwater, a.id, b.id, "named");
    await post(a.endpoint, { id: 7, summary: "seven" });
    const reported = async (): Promise<readonly unknown[]> => eventsOf(b.id);
    await until(async () => (await reported()).length === 1, "the event has run the listener");
    const { body } = await headwater.call<{ data: { id: string; metadata: { emit_id: string } }[] }>(
      "GET",
      `/sources/${a.id}/event_summaries`,
    );
    const [emitted] = body.data;
    const whose = { emitter_id: a.id, name: "named", id: "7", summary: "seven", ts: 1795000000000 };
    expect(await reported()).toEqual([{ event: { direct: true }, metadata: { ...whose, emit_id: emitted?.metadata.emit_id } }]);

    expect((await headwater.call("POST", `/sources/${b.id}/runs`, { event_id: emitted?.id, emitter_id: a.id })).status).toBe(200);
    await until(async () => (await reported()).length === 2, "the manual run has emitted");
    expect((await reported())[0]).toEqual({ event: { direct: true }, metadata: emitted?.metadata });

    const replay = await headwater.call<{ data: { id: string } }>("POST", `/sources/${a.id}/replays`, {});
    await until(async () => (await reported()).length === 3, "the replay has run the listener");
    const again = `${emitted?.metadata.emit_id}-${replay.body.data.id}`;
    expect((await reported())[0]).toEqual({ event: { direct: true }, metadata: { ...whose, emit_id: again } });
    await remove(a.id, b.id);
  });

  it("emits the event unchanged, on its default channel and without the event's id, when it has no run", async () => {
    const [a, b] = [await deploy(headwater, namer), await deploy(headwater, relay)];
    await subscribe(headwater, a.id, b.id, "named");
    await post(a.endpoint, { id: 8, summary: "eight" });
    await until(async () => (await eventsOf(b.id)).length === 1, "the event is emitted again");
    const { body } = await headwater.call<{ data: object[] }>("GET", `/sources/${b.id}/event_summaries`);
    const metadata = { emit_id: expect.any(String), emitter_id: b.id, name: "", ts: expect.any(Number) };
    expect(body.data).toMatchObject([{ event: { direct: true } }]);
    expect(body.data).toEqual([expect.objectContaining({ metadata })]);
    await remove(a.id, b.id);
  });
});

describe("a webhook", () => {
  it("receives $errors, $logs, a named channel and dc_* until it is unsubscribed", async () => {
    const source = await deploy(headwater, emitter);
    const hooks = { errors: await webhook(), logs: await webhook(), custom: await webhook(), all: await webhook() };
    await subscribe(headwater, source.id, hooks.errors, "$errors");
    await subscribe(headwater, source.id, hooks.logs, "$logs");
    await subscribe(headwater, source.id, hooks.custom, "alarm");
    await subscribe(headwater, "dc_*", hooks.all);
    receiver.received.splice(0);
    await post(source.endpoint, { say: "first", custom: "alarm", fail: "broken on purpose" });
    // Default channel, custom channel, error, and two log lines: the console call and the error.
    await until(() => receiver.received.length >= 5, "each event is delivered", { more: () => heard().join("\n") });
    const bodies = heard();
    const [error, ...others] = bodies.filter((body) => body.includes("original_context")).map((body) => JSON.parse(body) as ErrorEvent);
    expect([error?.error.message, others]).toEqual(["broken on purpose", []]);
    const { body, bodyRaw } = error?.original_event ?? { body: null, bodyRaw: "" };
    expect(body).toEqual({ say: "first", custom: "alarm", fail: "broken on purpose" });
    expect(JSON.parse(bodyRaw)).toEqual(body);
    expect(bodies.filter((body) => body.includes("console.log") && body.includes("says first"))).toHaveLength(1);
    expect(bodies.filter((body) => body === '{"say":"first"}')).toHaveLength(1);
    expect(bodies.filter((body) => body === '{"say":"first","n":0}')).toHaveLength(1);
    expect(bodies).toHaveLength(5);

    const ended: readonly (readonly [string, string, string])[] = [
      [source.id, hooks.errors, "$errors"],
      [source.id, hooks.logs, "$logs"],
      [source.id, hooks.custom, "alarm"],
    ];
    for (const [from, to, channel] of ended) {
      expect(
        (await headwater.call("DELETE", `/subscriptions?emitter_id=${from}&listener_id=${to}&event_name=${encodeURIComponent(channel)}`))
          .status,
      ).toBe(200);
    }
    receiver.received.splice(0);
    await post(source.endpoint, { say: "second", custom: "alarm", fail: "again" });
    // The unsubscribed webhooks would receive the second run's events before the third run's events arrive.
    await post(source.endpoint, { say: "third" });
    await until(() => heard().includes('{"say":"third","n":0}'), "the webhook of dc_* receives the third event");
    expect(heard()).toEqual(['{"say":"second","n":0}', '{"say":"third","n":0}']);
    await remove(source.id, ...Object.values(hooks));
  });

  it("receives the errors and logs of all sources of a user that it is subscribed to", async () => {
    const me = (await headwater.call<{ data: { id: string } }>("GET", "/users/me")).body.data.id;
    const [one, other] = [await deploy(headwater, emitter), await deploy(headwater, emitter)];
    const hooks = { errors: await webhook(), logs: await webhook() };
    await subscribe(headwater, me, hooks.errors, "$errors");
    await subscribe(headwater, me, hooks.logs, "$logs");
    receiver.received.splice(0);
    await post(one.endpoint, { say: "hello", fail: "the first is broken" });
    await post(other.endpoint, { say: "hello", fail: "the second is broken" });
    // Each source sends an error and two log lines: the console call and the error.
    await until(() => receiver.received.length >= 6, "each event is delivered", { more: () => heard().join("\n") });
    const errors = heard().filter((body) => body.includes("original_context"));
    expect(errors.map((body) => (JSON.parse(body) as ErrorEvent).error.message).toSorted()).toEqual([
      "the first is broken",
      "the second is broken",
    ]);
    expect(heard().filter((body) => body.includes("says hello"))).toHaveLength(2);
    await remove(one.id, other.id, ...Object.values(hooks));
  });

  it("receives no more attempts once it is deleted", async () => {
    const [deleted, kept] = [await startReceiver(() => 503), await startReceiver(() => 503)];
    const source = await deploy(headwater, emitter);
    const hooks = { deleted: await webhook(deleted), kept: await webhook(kept) };
    for (const hook of Object.values(hooks)) await subscribe(headwater, source.id, hook);
    await post(source.endpoint, { say: "never delivered" });
    await until(() => deleted.received.length >= 1 && kept.received.length >= 1, "both have received an attempt");
    await remove(hooks.deleted);
    const tried = [deleted.received.length, kept.received.length] as const;
    await until(() => kept.received.length >= tried[1] + 2, "the other webhook receives two more attempts");
    expect(deleted.received).toHaveLength(tried[0]);
    await remove(source.id, hooks.kept);
    await Promise.all([deleted.close(), kept.close()]);
  });
});
