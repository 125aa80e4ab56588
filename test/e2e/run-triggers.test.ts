import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { until } from "../support/until.ts";
import { action, hooked, listens, repeats, responder, slowTicks, ticks, waits } from "./support/run-semantics-components.ts";
import { payloads, withRunWorld, type Answered } from "./support/run-world.ts";
import type { Source } from "../support/system/sources.ts";

/** What makes a source run, and what its caller receives. */
const world = withRunWorld();
const { create, deploy, run, stored } = world;
const { call } = world.headwater;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

describe("respond", () => {
  let asked: Source;
  beforeAll(async () => {
    asked = await deploy(responder);
  });
  const ask = (body: object): Promise<Response> =>
    fetch(asked.endpoint, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

  it.each<readonly [string, object, number, string]>([
    ["text", { body: "text" }, 200, "plain"],
    ["a numeric text as status", { status: "418", body: "none" }, 418, ""],
    ["an object", { body: "object" }, 200, `{"a":1}`],
    ["a number", { body: "number" }, 200, "5"],
    ["throws after", { body: "text", throwAfter: true }, 200, "plain"],
    ["throws before", { throwBefore: true }, 500, "run_failed"],
    ["nothing", { nothing: true }, 504, "no_response"],
    ["a stream", { body: "stream" }, 200, "x"],
    ["a web stream", { body: "web" }, 200, "w"],
    ["a promise", { body: "promise" }, 500, "run_failed"],
    ["a wrong status", { status: 600 }, 500, "run_failed"],
  ])("%s", async (_, body, status, text) => {
    const response = await ask(body);
    const answer = await response.text();
    expect([response.status, answer]).toEqual([status, status < 500 ? text : (expect.stringContaining(text) as string)]);
    expect(answer).not.toContain("secret reason");
  });

  it("returns bytes, and several headers of one name", async () => {
    const response = await ask({ body: "buffer", headers: { "set-cookie": ["a=1", "b=2"], "x-n": 5, "x-none": null } });
    expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([0, 255]);
    expect([response.headers.getSetCookie(), response.headers.get("x-n"), response.headers.get("x-none")]).toEqual([
      ["a=1", "b=2"],
      "5",
      null,
    ]);
  });

  it("sends the response before the rest of the run is done", async () => {
    expect((await ask({ body: "text", work: 1_500 })).status).toBe(200);
    expect(payloads(await stored(asked))).not.toContain("worked");
    await until(async () => payloads(await stored(asked)).includes("worked"), "the work is done");
  });

  it("logs why a body is invalid", async () => {
    await ask({ body: "promise" });
    await until(
      async () => (await call("GET", `/sources/${asked.id}/logs`)).text.includes("is a promise; await it first"),
      "the log explains the error",
    );
  });
});

describe("triggers", () => {
  it("tick with time and interval, and events reach a listening source and a webhook", async () => {
    const timer = await deploy(ticks, { timer: { intervalSeconds: 1 } });
    const listener = await deploy(listens);
    const { body } = await call<Answered>("POST", "/webhooks", { url: receiver.url });
    for (const listener_id of [listener.id, body.data.id])
      expect((await call("POST", "/subscriptions", { emitter_id: timer.id, listener_id })).status).toBe(200);
    await until(async () => (await stored(listener)).length > 0 && receiver.received.length > 0, "both listeners receive a tick");
    const tick = { timestamp: expect.any(Number) as number, interval_seconds: 1 };
    expect((await stored(listener))[0]?.event).toEqual({ heard: tick });
    expect(JSON.parse(receiver.received[0]?.body ?? "")).toEqual(tick);
    expect((await call("DELETE", `/sources/${timer.id}`)).status).toBe(204);
  });

  it("list which ticks became runs, which were late and which were skipped", async () => {
    interface Tick {
      readonly state: string;
      readonly run_id: string | null;
      readonly due_at_ms: number;
      readonly late_ms: number | null;
    }
    const slow = await deploy(slowTicks, { timer: { intervalSeconds: 1 } });
    let listed: readonly Tick[] = [];
    await until(async () => {
      listed = (await call<{ data: readonly Tick[] }>("GET", `/sources/${slow.id}/ticks`)).body.data;
      return ["late", "skipped"].every((state) => listed.some((tick) => tick.state === state));
    }, "some are late and some are skipped");
    const { body } = await call<{ data: readonly { id: string }[] }>("GET", `/sources/${slow.id}/runs?limit=100`);
    const runs = listed.flatMap(({ run_id: id }) => (id === null ? [] : [id]));
    expect(body.data.map(({ id }) => id)).toEqual(expect.arrayContaining(runs));
    expect(
      listed.every(({ state, late_ms: late }) =>
        state === "skipped" ? late === null : late !== null && late > 1_000 === (state === "late"),
      ),
    ).toBe(true);
    const due = listed.map(({ due_at_ms: at }) => at);
    expect(due).toEqual(due.toSorted((a, b) => b - a));
    expect((await call("DELETE", `/sources/${slow.id}`)).status).toBe(204);
  });

  it("pass the caller's traceparent and tracestate to webhooks unchanged, and no other header", async () => {
    const asked = await deploy(repeats);
    const { body } = await call<Answered>("POST", "/webhooks", { url: receiver.url });
    expect((await call("POST", "/subscriptions", { emitter_id: asked.id, listener_id: body.data.id })).status).toBe(200);
    const given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const heard = async (text: string, headers: Readonly<Record<string, string>>): Promise<readonly unknown[]> => {
      expect((await fetch(asked.endpoint, { method: "POST", body: text, headers })).status).toBe(200);
      const find = () => receiver.received.find((each) => each.body === JSON.stringify({ repeats: text }));
      await until(() => find() !== undefined, `the webhook receives '${text}'`);
      return ["traceparent", "tracestate"].map((name) => find()?.headers[name]);
    };
    const tracestate = "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE";
    expect(await heard("traced", { traceparent: given })).toEqual([given, undefined]);
    expect(await heard("with state", { traceparent: given, tracestate })).toEqual([given, tracestate]);
    expect(await heard("with broken state", { traceparent: given, tracestate: `${tracestate},rojo=1` })).toEqual([given, undefined]);
    expect(await heard("untraced", { tracestate })).toEqual([undefined, undefined]);
    expect(await heard("nonsense", { traceparent: given.toUpperCase(), tracestate })).toEqual([undefined, undefined]);
  });

  it("deliver an event at its delivery_ts, and not before", async () => {
    const later = await deploy(waits);
    const listener = await deploy(listens);
    expect((await call("POST", "/subscriptions", { emitter_id: later.id, listener_id: listener.id })).status).toBe(200);
    const at = Date.now() + 3_000;
    await run({ at }, later);
    await until(async () => (await stored(listener)).length === 2, "the listener receives both");
    const [first, second] = await stored(listener);
    expect([first?.event, second?.event]).toEqual([{ heard: "at once" }, { heard: "later" }]);
    expect(Number(second?.id.split("-")[0])).toBeGreaterThanOrEqual(at);
  });

  it("replay past events to the current listeners", async () => {
    const emitter = await deploy(waits);
    await run({ at: 0 }, emitter);
    await until(async () => (await stored(emitter)).length === 2, "both events are stored");
    const listener = await deploy(listens);
    const { body } = await call<Answered>("POST", "/webhooks", { url: receiver.url });
    for (const listener_id of [listener.id, body.data.id])
      expect((await call("POST", "/subscriptions", { emitter_id: emitter.id, listener_id })).status).toBe(200);
    const { status, body: replayed } = await call<{ data: { id: string; events: number } }>("POST", `/sources/${emitter.id}/replays`, {});
    expect([status, replayed.data.events]).toEqual([202, 2]);
    const heard = () => receiver.received.filter(({ headers }) => headers["x-headwater-replay"] === replayed.data.id);
    await until(async () => (await stored(listener)).length === 2 && heard().length === 2, "both listeners receive both");
    expect(heard().map((each) => JSON.parse(each.body) as unknown)).toEqual(payloads(await stored(emitter)));
  });

  it("store nothing of a dry run", async () => {
    const emitter = await deploy(waits);
    const dry = await call<{ data: { emits: readonly { verdict: string; event: unknown }[] } }>("POST", `/sources/${emitter.id}/runs`, {
      event: { at: 0 },
      dry_run: true,
    });
    expect(dry.body.data.emits).toMatchObject([
      { verdict: "emitted", event: "later", delivery_ts: 0 },
      { verdict: "emitted", event: "at once" },
    ]);
    const { event_ids: ids } = await run({ at: 0 }, emitter);
    await until(async () => (await stored(emitter)).length > 0, "the run is stored");
    expect((await stored(emitter)).map(({ id }) => id)).toEqual(ids);
    expect((await call<{ data: readonly object[] }>("GET", `/sources/${emitter.id}/runs`)).body.data).toHaveLength(1);
  });

  it("count attempts in the delivery metrics", async () => {
    const text = await (await fetch(new URL("/metrics", world.headwater.apiUrl))).text();
    for (const listener of ["webhook", "source"])
      expect(text).toMatch(new RegExp(`headwater_delivery_attempts_total\\{listener="${listener}",outcome="delivered"\\} [1-9]`));
    expect(text).toMatch(/headwater_delivery_lag_seconds_count\{listener="webhook"\} [1-9]/);
    for (const state of ["unrouted", "due", "scheduled"])
      expect(text).toMatch(new RegExp(`headwater_delivery_backlog\\{state="${state}"\\} \\d`));
  });

  it("refuse to deploy an action, with the reason", async () => {
    const { status, text } = await create(action);
    expect([status, text]).toEqual([422, expect.stringContaining("component 'Act' is an action")]);
  });
});

describe("hooks", () => {
  const summaries = async (from: Source): Promise<readonly unknown[]> => (await stored(from)).map(({ metadata }) => metadata.summary);

  it("run in order, emit, write to the db, and ignore respond", async () => {
    const made = await deploy(hooked);
    expect((await run(null, made)).result).toEqual(["deploy", "activate"]);
    await until(async () => (await summaries(made)).length === 2, "both emitted");
    expect(await summaries(made)).toEqual(["deploy", "activate"]);
    expect((await stored(made))[0]?.event).toEqual({ hook: "deploy", ran: ["deploy"], endpoint: "string" });
    expect((await call("PUT", `/sources/${made.id}`, { name: "Renamed" })).status).toBe(200);
    expect((await run(null, made)).result).toEqual(["deploy", "activate", "deactivate", "activate"]);
  });

  it("emit nothing on deploy with emit_on_deploy false", async () => {
    const made = await deploy(hooked, {}, { emit_on_deploy: false });
    expect((await run(null, made)).result).toEqual(["deploy", "activate"]);
    await until(async () => (await summaries(made)).length === 1, "activate emitted");
    expect(await summaries(made)).toEqual(["activate"]);
  });

  it.each([
    ["fails", "deploy", { name: "RangeError", message: "cannot deploy" }],
    ["fails", "activate", { name: "RangeError", message: "cannot activate" }],
  ])("returns 422 with the error when a hook %s in %s", async (what, hook, err) => {
    const { status, body } = await create(hooked, { [what]: hook });
    expect([status, body]).toMatchObject([422, { error: "observation error", observations: [{ k: "error", h: hook, err }] }]);
  });

  it("allow a source to be deleted although deactivate fails", async () => {
    const kept = await deploy(hooked, { fails: "deactivate" });
    expect((await call("DELETE", `/sources/${kept.id}?ignore_hook_errors=true`)).status).toBe(204);
    await until(async () => (await call("GET", `/sources/${kept.id}`)).status === 404, "it is gone");
  });
});
