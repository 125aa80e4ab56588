import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { runSubject } from "../../../domain/subjects.ts";
import { commitOf, openStream, openUnread, shows, withStreamingApi, type OpenStream } from "./streams-support.ts";
import { announceEmitted } from "../../../platform/jetstream/runs/emitted-events.ts";
import { committedEvent as event } from "../committed-event.ts";
import { ada, bob, keys } from "./support.ts";
import { quietMs } from "../jetstream/support.ts";
import { until } from "../../support/until.ts";

const { api, nats, world, stopping } = withStreamingApi({ keepAliveMs: 50, waitingBytes: 256 * 1024 });
let source = "";
const opened: OpenStream[] = [];

beforeEach(async () => {
  source = await createSource(keys.ada);
});
afterEach(() => {
  for (const stream of opened.splice(0)) stream.close();
});

async function createSource(key: string): Promise<string> {
  return (await api.ask("POST", "/v1/sources", { key, body: { component_code: "name: Emitter" } })).body.data.id;
}

async function open(query = "", { after, key }: { readonly after?: string; readonly key?: string } = {}): Promise<OpenStream> {
  const stream = await openStream(api.url, `/v1/sources/${source}/${query.startsWith("logs") ? query : `sse${query}`}`, {
    ...(key === undefined ? {} : { key }),
    headers: after === undefined ? {} : { "last-event-id": after },
  });
  opened.push(stream);
  return stream;
}

const emit = (...events: Parameters<typeof event>[]) =>
  world.commit(
    commitOf(
      source,
      ada.id,
      events.map((each) => event(...each)),
    ),
  );

describe("a live stream", () => {
  it("sends the handshake, repeats it as a keep-alive, and sets `no-cache` and `no-transform`", async () => {
    const stream = await open();
    expect(stream.status).toBe(200);
    expect(Object.fromEntries(stream.headers)).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
    });
    await until(() => stream.text().startsWith(":sse-handshake\n\n:sse-handshake\n\n"), "a second one");
  });

  it("sends an event on one line when it is committed, and no earlier ones", async () => {
    const early = await open();
    await emit(["1-0"]);
    await shows(early, ["1-0"]); // All of them are behind it by then.
    const stream = await open();
    await emit(["2-0", { payload: '{"a":\n 1}', summary: "s", dedupeId: "d" }]);
    await shows(stream, ["2-0"]);
    expect(stream.text()).toContain(
      `id: 2-0\ndata: {"event":{"a":  1},"metadata":{"emit_id":"em_2-0","name":"","emitter_id":"${source}","id":"d","summary":"s","ts":1}}\n\n`.replace(
        "  1",
        "  1",
      ),
    );
  });

  it.each(["/sources/:id/sse", "/v1/sources/:id/sse/", "/sse/dc/:id/emits", "/v1/sse/dc/:id/emits"])(
    "of events is the same at %s",
    async (path) => {
      const stream = await openStream(api.url, path.replace(":id", source));
      opened.push(stream);
      await emit(["1-0"]);
      await shows(stream, ["1-0"]);
      expect(stream.messages()).toEqual([
        { id: "1-0", data: { event: { id: "1-0" }, metadata: { emit_id: "em_1-0", name: "", emitter_id: source, ts: 1 } } },
      ]);
    },
  );

  it.each(["/sources/:id/logs/sse", "/v1/sources/:id/logs/sse", "/sse/dc/:id/observations", "/v1/sse/dc/:id/observations"])(
    "of logs is the same at %s",
    async (path) => {
      const stream = await openStream(api.url, path.replace(":id", source));
      opened.push(stream);
      await world.commit(commitOf(source, ada.id, [], { logs: [{ k: "console.log", ts: 7, msg: "hello" }] }));
      await until(() => stream.messages().length === 1, "the line");
      expect(stream.messages()[0]?.data).toMatchObject({ event: { k: "console.log", msg: "hello" }, metadata: { name: "$logs" } });
    },
  );

  it("sends only the selected channel", async () => {
    const [all, orders] = [await open(), await open("?event_name=orders")];
    await emit(["1-0"], ["2-0", { channel: "orders" }], ["3-0", { channel: "other" }]);
    await emit(["4-0", { channel: "orders" }]);
    await shows(all, ["1-0", "2-0", "3-0", "4-0"]);
    await shows(orders, ["2-0", "4-0"]);
  });

  it("sends errors and log lines on their channels, without ids", async () => {
    const [all, errors, logs] = [await open(), await open("?event_name=$errors"), await open("logs/sse")];
    const error = { name: "TypeError", message: "no", stack: "TypeError: no" };
    await world.commit(commitOf(source, ada.id, [event("1-0")], { error, logs: [{ k: "console.log", ts: 7, msg: "line" }] }));
    await until(() => errors.messages().length + logs.messages().length === 2, "both");
    expect(logs.messages()[0]).toMatchObject({
      id: undefined,
      data: { event: { k: "console.log", ts: 7, msg: "line" }, metadata: { name: "$logs", emitter_id: source, ts: 7 } },
    });
    expect(errors.messages()[0]).toMatchObject({ id: undefined, data: { event: { error: { name: "TypeError", message: "no" } } } });
    await shows(all, ["1-0"]);
  });

  it("sends nothing that a runner wrote under another owner's name", async () => {
    const stream = await open();
    await nats.connection.publisher.publish(
      runSubject(partitionOf(source), bob.id, source),
      JSON.stringify(commitOf(source, ada.id, [event("1-0")])),
    );
    await nats.connection.publisher.publish(runSubject(partitionOf(source), ada.id, source), "no commit");
    await emit(["2-0"]);
    await shows(stream, ["2-0"]);
  });
});

describe("a stream that continues", () => {
  /**
   * Method: some commits of one to three events each; the recorder has got to any of them; a reader has seen up to any event, and more
   * is committed while it comes back. The oracle is the list of all events behind the one it saw.
   */
  it("misses and repeats no event, wherever it was cut and however far the history is", async () => {
    const sizes = [1, 3, 2, 1, 2];
    let next = 0;
    const ids: string[] = [];
    const commitSome = async (size: number): Promise<void> => {
      const fresh = Array.from({ length: size }, () => `${100 + Math.floor(++next / 4)}-${next}`);
      ids.push(...fresh);
      await emit(...fresh.map((id): [string] => [id]));
    };
    for (const size of sizes) await commitSome(size);
    for (let recorded = 0; recorded <= sizes.length; recorded++) {
      const cuts = ids.slice(0, 9);
      const coming = cuts.map((after) => open("", { after }));
      await commitSome(2);
      const streams = await Promise.all(coming);
      await commitSome(1);
      for (const [place, stream] of streams.entries()) await shows(stream, ids.slice(place + 1));
      for (const stream of streams) stream.close();
      await world.record(1);
    }
    await world.record();
    await shows(await open("", { after: ids[0] ?? "" }), ids.slice(1));
  });

  it("sends only its channel across the gap", async () => {
    await emit(["1-0", { channel: "a" }], ["2-0"]);
    await world.record();
    await emit(["3-0", { channel: "a" }], ["4-0"]);
    const stream = await open("?event_name=a", { after: "0-0" });
    await emit(["5-0"], ["6-0", { channel: "a" }]);
    await shows(stream, ["1-0", "3-0", "6-0"]);
  });

  it("begins with the last `replay` events, unless Last-Event-ID is given", async () => {
    await emit(["1-0"], ["2-0"]);
    await world.record();
    await emit(["3-0"]);
    await shows(await open("?replay=2"), ["2-0", "3-0"]);
    await shows(await open("?replay=2", { after: "2-0" }), ["3-0"]);
    await shows(await open("?replay=100"), ["1-0", "2-0", "3-0"]);
  });

  it("continues without a gap after a restart of NATS", async () => {
    const stream = await open();
    await emit(["1-0"]);
    await shows(stream, ["1-0"]);
    await nats.server.crash();
    await until(() => nats.connection.status() === "connected", "the connection is back");
    for (let id = 2; id < 8; id++) await emit([`${id}-0`]);
    await shows(stream, ["1-0", "2-0", "3-0", "4-0", "5-0", "6-0", "7-0"]);
  });
});

describe("a reader that does not read", () => {
  it("is disconnected if it does not read the end of its stream", async () => {
    const response = await openUnread(api.url, source);
    const text = "x".repeat(1_000_000);
    api.log.length = 0;
    for (let id = 1; id < 13; id++) await emit([`${id}-0`, { payload: JSON.stringify({ text }) }]);
    const log = () => api.log.some((line) => "aborted" in line && "http.route" in line && line["http.route"] === "/v1/sources/:id/sse");
    await until(log, "the server gives it up");
    response.destroy();
  });
});

describe("access to a stream", () => {
  it("is limited to the owner", async () => {
    expect((await open("", { key: keys.bob })).status).toBe(404);
    expect((await api.ask("GET", `/sources/${source}/sse`, { key: null })).status).toBe(401);
    expect((await api.ask("GET", "/v1/sources/dc_none/sse")).body.code).toBe("not_found");
  });

  it("requires GET and an existing source", async () => {
    expect((await api.ask("POST", `/v1/sources/${source}/sse`)).status).toBe(405);
    expect((await api.ask("HEAD", `/v1/sources/${source}/sse`)).status).toBe(200);
    expect((await open("", { after: "nonsense" })).status).toBe(422);
    expect((await open("?replay=many")).status).toBe(422);
  });

  it("ends when the source is deleted", async () => {
    const stream = await open();
    await api.ask("DELETE", `/v1/sources/${source}`);
    await stream.ended();
    expect(stream.text()).toMatch(/: the source was deleted\n\n$/);
  });

  it("ends when the key is revoked", async () => {
    source = await createSource(keys.bob);
    const stream = await open("", { key: keys.bob });
    for (const { id } of await api.accounts.listKeys(bob.id)) await api.accounts.revokeKey(bob.id, id);
    await stream.ended();
    expect(stream.text()).toMatch(/: the API key does not reach this source any more\n\n$/);
  });

  it("ends when the key expires", async () => {
    const { key } = (await api.ask("POST", "/v1/users/me/keys", { body: { name: "ends" } })).body.data;
    const stream = await open("", { key });
    await sql`update api_keys set expires_at = now() - interval '1 second' where name = 'ends'`.execute(api.database.db);
    await stream.ended();
    expect(stream.text()).toMatch(/: the API key does not reach this source any more\n\n$/);
  });
});

describe("a scheduled event", () => {
  it("is sent on $in when it is committed, and on its channel when it is due, without an id", async () => {
    const [all, tasks, scheduled, later] = [await open(), await open("?event_name=tasks"), await open("?event_name=$in"), await open()];
    await emit(["1-0", { channel: "tasks", deliverAt: 9e12, payload: '{"n":1}' }], ["1-1"]);
    await until(() => scheduled.messages().length === 1, "it shows on $in");
    await shows(all, ["1-1"]);
    expect(scheduled.messages()[0]).toMatchObject({ id: undefined, data: { event: { n: 1 }, metadata: { name: "tasks" } } });
    const due = { source, owner: ada.id, emitId: "em_1-0", channel: "tasks", ts: 1, payload: '{"n":1}', summary: "a task" };
    announceEmitted(nats.connection, due);
    announceEmitted(nats.connection, { ...due, owner: bob.id, payload: '{"n":2}' });
    await emit(["2-0", { channel: "tasks" }]);
    await until(() => [all, later].every((stream) => stream.messages().length === 3) && tasks.messages().length === 2, "all have come");
    const [first] = tasks.messages();
    expect(first).toMatchObject({ id: undefined, data: { event: { n: 1 }, metadata: { emit_id: "em_1-0", summary: "a task" } } });
    expect([all.ids(), tasks.ids(), scheduled.ids()]).toEqual([["1-1", undefined, "2-0"], [undefined, "2-0"], [undefined]]);
  });

  it("is not part of a gap until it is due", async () => {
    await emit(["1-0", { deliverAt: 9e12 }], ["1-1"]);
    await shows(await open("?replay=5"), ["1-1"]);
    await world.record();
    await shows(await open("?replay=5"), ["1-1"]);
    await shows(await open("", { after: "0-0" }), ["1-1"]);
  });
});

describe("no open stream", () => {
  it("leaves no consumer", async () => {
    const consumers = async () => (await nats.connection.manager.streams.info("RUNS")).state.consumer_count;
    await until(async () => (await consumers()) === 0, "none is left");
    const [one, other] = [await open(), await open()];
    expect(await consumers()).toBe(1);
    one.close();
    other.close();
    await until(async () => (await consumers()) === 0, "it is gone");
    await emit(["1-0"]);
    await new Promise((resolve) => setTimeout(resolve, quietMs));
    await emit(["2-0"]);
    await shows(await open("", { after: "1-0" }), ["2-0"]);
  });
});

describe("a stopping process", () => {
  it("ends streams immediately with a reconnection time, and opens none", async () => {
    const stream = await open();
    stopping.abort();
    await stream.ended();
    expect(stream.text()).toMatch(/retry: \d{4}\n: this server stops: connect again\n\n$/);
    expect((await open()).status).toBe(503);
  });
});
