import { sql } from "kysely";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { labels } from "../../../crds/resource.ts";
import { emptyWorkflow, workflowKind } from "../../../crds/workflow.ts";
import { namespaceOfOwner, resourceNameOf } from "../../../domain/ids.ts";
import type { CommittedEvent } from "../../../domain/event/committed-event.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import type { Commit } from "../../../domain/run/commit.ts";
import { runSubject } from "../../../domain/subjects.ts";
import { announceEmitted } from "../../../platform/jetstream/runs/emitted-events.ts";
import { recordable } from "../../domain/run/workflow-commits.ts";
import { until } from "../../support/until.ts";
import { committedEvent as event } from "../committed-event.ts";
import { commitOf, messagesOf, openStream, openUnreadAt, withStreamingApi, type Message, type OpenStream } from "./streams-support.ts";
import { acme, ada, bob, keys } from "./support.ts";

/** Live searches over a real Postgres and NATS: what they send, to whom, and how they continue. */
const liveSearches = { perUser: 3, total: 5 };
const { api, nats, world } = withStreamingApi({ keepAliveMs: 50, waitingBytes: 64 * 1024 }, { liveSearches });
const opened: OpenStream[] = [];
const sources = { orders: "", ours: "", bobs: "" };
const billing = "p_billing";

interface Options {
  readonly key?: string;
  readonly after?: string | undefined;
  readonly path?: string;
}

async function open(q: string, { key, after, path = "/v1/search/sse" }: Options = {}): Promise<OpenStream> {
  const stream = await openStream(api.url, `${path}?${new URLSearchParams({ q }).toString()}`, {
    ...(key === undefined ? {} : { key }),
    headers: after === undefined ? {} : { "last-event-id": after },
  });
  opened.push(stream);
  return stream;
}

interface Item {
  readonly kind: string;
  readonly id: string;
  readonly source_id: string;
  readonly source_name: string;
  readonly run_id: string;
  readonly excerpt: string;
}
const itemsOf = (messages: readonly Message[]): readonly Item[] =>
  messages.filter((message) => message.event === undefined).map(({ data }) => data as Item);
const found = (stream: OpenStream): readonly string[] => itemsOf(stream.messages()).map(({ kind, run_id: run }) => `${kind} ${run}`);
const positions = (stream: OpenStream): readonly (string | undefined)[] =>
  stream.messages().flatMap((message) => (message.event === "position" ? [message.id] : []));

async function shows(stream: OpenStream, expected: readonly string[]): Promise<void> {
  await until(() => found(stream).length >= expected.length, `${expected.join()} in ${found(stream).join()}`);
  expect(found(stream)).toEqual(expected);
}

let runs = 0;
/** The run is named after its number, so that tests can say which they expect. */
const commit = (source: string, given: Partial<Commit> = {}, owner = ada.id): Commit => {
  const made = commitOf(source, owner, given.events ?? [], given);
  return { ...made, run: { ...made.run, startedAt: 1_800_000_000_000 + runs, ...given.run } };
};
const textOf = (id: string, text: string): CommittedEvent => event(id, { payload: JSON.stringify(text) });
/** A run that emits one event with this text. @returns the id of the run */
async function emit(source: string, text: string, owner = ada.id): Promise<string> {
  const made = commit(source, { events: [textOf(`${1_800_000_000_000 + ++runs}-0`, text)] }, owner);
  await world.commit(made);
  return made.run.id;
}

async function createSource(name: string, key: string = keys.ada, query = ""): Promise<string> {
  const { body, text } = await api.ask("POST", `/v1/sources${query}`, { body: { component_code: `name: ${name}`, name }, key });
  if (body?.data === undefined) throw new Error(text);
  return body.data.id;
}

beforeAll(async () => {
  Object.assign(sources, {
    orders: await createSource("Orders"),
    ours: await createSource("Ours", keys.ada, `?org_id=${acme.id}`),
    bobs: await createSource("Of Bob", keys.bob),
  });
  await api.store.create(workflowKind, {
    namespace: namespaceOfOwner(ada.id),
    name: resourceNameOf(billing),
    labels: { [labels.id]: billing, [labels.owner]: ada.id },
    spec: { ...emptyWorkflow, name: "Billing" },
  });
});
beforeEach(() => void opened.splice(0));
/** Streams that are open are counted: wait until the server has noticed that they are closed. */
afterEach(async () => {
  for (const stream of opened) stream.close();
  const consumers = async (): Promise<number> => (await nats.connection.manager.streams.info("RUNS")).state.consumer_count;
  await until(async () => (await consumers()) === 0, "no stream is open");
});

describe("a live search", () => {
  /** Oracle: what a search finds once the history has it, oldest first. */
  test.each([
    "",
    "stock",
    "level:error",
    "kind:event,run -pears",
    "status:failed",
    "source:ord*,bill*",
    "channel:sold",
    "workflow:billing kind:error",
  ])("for '%s' sends the items that a search finds", async (q) => {
    const stream = await open(q);
    const id = ++runs * 100;
    const at = 1_900_000_000_000 + id;
    const run = { trigger: "http", generation: 1, durationMs: 5, cpuMs: 1, result: null } as const;
    const workflow = { status: "failed", number: 1, startedAt: at + 50, stepCount: 1 } as const;
    const error = { name: "TypeError", message: "negative stock", stack: "TypeError: negative stock\n    at run (a.mjs:3:7)" };
    const made = [
      commit(sources.orders, {
        run: { ...run, id: `r_${id}a`, startedAt: at },
        events: [event(`${at + 4}-0`, { channel: "sold", summary: "Sold pears" }), textOf(`${at + 4}-1`, "apples in stock")],
        logs: [
          { k: "console.warn", ts: at + 2, msg: "low on STOCK" },
          { k: "error", ts: at + 3, err: error },
        ],
      }),
      commit(sources.orders, { run: { ...run, id: `r_${id}b`, startedAt: at + 10 }, error }),
      commit(sources.ours, { run: { ...run, id: `r_${id}c`, startedAt: at + 20 }, events: [textOf(`${at + 21}-0`, "our stock")] }, acme.id),
      recordable({ source: billing, owner: ada.id, run: { ...run, id: `r_${id}d`, startedAt: at + 50 }, error, workflow }),
    ];
    for (const each of made) await world.commit(each);
    await world.record();
    const search = new URLSearchParams({ q: `${q} after:${new Date(at).toISOString()} before:${new Date(at + 99).toISOString()}` });
    const { body } = await api.ask("GET", `/v1/search?limit=100&${search.toString()}`);
    const expected = body.data.items.toReversed();
    expect(expected.length).toBeGreaterThan(0);
    await until(() => itemsOf(stream.messages()).length >= expected.length, `${q}: ${JSON.stringify(stream.messages())}`);
    expect(itemsOf(stream.messages())).toEqual(expected);
  });

  test("sends nothing that was committed before it was opened, and only what matches, in the order of commits", async () => {
    const early = await open("kind:event needle");
    const first = await emit(sources.orders, "needle 1");
    await shows(early, [`event ${first}`]);
    const stream = await open("kind:event needle");
    await emit(sources.orders, "hay");
    const [second, third] = [await emit(sources.orders, "needle 2"), await emit(sources.orders, "a NEEDLE")];
    await shows(stream, [`event ${second}`, `event ${third}`]);
    await shows(early, [`event ${first}`, `event ${second}`, `event ${third}`]);
  });

  test("finds a source that is created while it is open, by its name", async () => {
    const stream = await open("source:later-* kind:event");
    await emit(sources.orders, "other");
    const later = await createSource("Later than the search");
    const run = await emit(later, "new");
    await shows(stream, [`event ${run}`]);
  });

  test("sends a scheduled event when it is due, without an id", async () => {
    const stream = await open("tasks kind:event");
    const due = {
      source: sources.orders,
      owner: ada.id,
      emitId: "em_1",
      eventId: "1900000000001-7",
      run: "r_due",
      channel: "tasks",
      ts: 1,
    };
    announceEmitted(nats.connection, { ...due, source: sources.bobs, owner: bob.id, payload: '"tasks of Bob"' });
    announceEmitted(nats.connection, { ...due, payload: '"tasks"' });
    await shows(stream, ["event r_due"]);
    const [message] = stream.messages().filter(({ event: type }) => type === undefined);
    expect([message?.id, itemsOf(stream.messages())[0]?.id]).toEqual([undefined, due.eventId]);
  });

  test("refuses what it cannot do, with a reason", async () => {
    const ask = (path: string, headers = {}) => api.ask("GET", path, { headers });
    const before = await ask("/v1/search/sse?q=stock+before:-1h");
    expect([before.status, before.body.code, before.body.details]).toEqual([400, "invalid_query", { position: 7 }]);
    expect(before.body.error).toContain("a live search finds what is new: leave out before");
    expect((await ask("/v1/search/sse?q=level:fatal")).body.code).toBe("invalid_query");
    expect((await ask(`/v1/search/sse?q=${"z".repeat(1_001)}`)).status).toBe(400);
    expect((await ask("/v1/search/sse", { "last-event-id": "nonsense" })).status).toBe(422);
    const later = await ask("/v1/search/sse", { "last-event-id": "999999999999-0" });
    expect([later.status, later.body.error]).toEqual([422, expect.stringContaining("is later than all commits")]);
    expect((await api.ask("GET", "/v1/search/sse", { key: null })).status).toBe(401);
    expect((await api.ask("POST", "/v1/search/sse")).status).toBe(405);
    expect((await api.ask("HEAD", "/v1/search/sse")).status).toBe(200);
    expect((await open("kind:event", { after: "" })).status).toBe(200);
  });
});

describe("rights", () => {
  test("are those of the caller: nothing of others, and nothing that a runner wrote under another owner's name", async () => {
    const [adas, bobs] = [await open("secret kind:event"), await open("secret kind:event", { key: keys.bob })];
    const forged = commit(sources.orders, { events: [textOf("1900000000002-0", "secret forged")] });
    await nats.connection.publisher.publish(runSubject(partitionOf(sources.orders), bob.id, sources.orders), JSON.stringify(forged));
    // Of a source that is not Bob's, under his own name.
    await emit(sources.orders, "secret borrowed", bob.id);
    const [ofAda, ofBob] = [await emit(sources.orders, "secret of Ada"), await emit(sources.bobs, "secret of Bob", bob.id)];
    await shows(adas, [`event ${ofAda}`]);
    await shows(bobs, [`event ${ofBob}`]);
  });

  test("with an organization, are its items alone, and only for members", async () => {
    const streams = [await open("org kind:event", { path: `/v1/orgs/${acme.id}/search/sse` })];
    const query = `/v1/search/sse?org_id=${acme.id}&q=org+kind:event`;
    streams.push(await openStream(api.url, query));
    opened.push(...streams.slice(1));
    await emit(sources.orders, "org: not of it");
    const run = await emit(sources.ours, "org: of it", acme.id);
    for (const stream of streams) await shows(stream, [`event ${run}`]);
    for (const path of [query, `/v1/orgs/${acme.id}/search/sse`]) expect((await api.ask("GET", path, { key: keys.bob })).status).toBe(403);
    expect((await api.ask("GET", `/v1/orgs/${acme.id}/search/sse?org_id=o_others`)).status).toBe(403);
  });

  test("end with the membership: the stream ends, and the next one has nothing of the organization", async () => {
    await api.accounts.putMember(bob.id, acme.id, "member");
    const stream = await open("shared kind:event", { key: keys.bob });
    const ofAll = await open("shared kind:event", { key: keys.bob, path: `/v1/orgs/${acme.id}/search/sse` });
    const seen = await emit(sources.ours, "shared", acme.id);
    await shows(stream, [`event ${seen}`]);
    await shows(ofAll, [`event ${seen}`]);
    await api.accounts.removeMember(bob.id, acme.id);
    for (const each of [stream, ofAll]) {
      await each.ended();
      expect(each.text()).toMatch(/: the API key or its organizations have changed: open the stream again\n\n$/);
    }
    const next = await open("shared kind:event", { key: keys.bob, after: stream.ids().at(-1) });
    await emit(sources.ours, "shared, but not with Bob", acme.id);
    const own = await emit(sources.bobs, "shared with none", bob.id);
    await shows(next, [`event ${own}`]);
  });

  test("end with the key", async () => {
    const { key } = (await api.ask("POST", "/v1/users/me/keys", { body: { name: "ends" } })).body.data;
    const stream = await open("", { key });
    await sql`update api_keys set expires_at = now() - interval '1 second' where name = 'ends'`.execute(api.database.db);
    await stream.ended();
    expect((await open("", { key })).status).toBe(401);
  });

  test("exclude a source that was deleted", async () => {
    const gone = await createSource("Gone");
    expect((await api.ask("DELETE", `/v1/sources/${gone}`)).status).toBe(204);
    const stream = await open("ending kind:event");
    await emit(gone, "ending");
    const run = await emit(sources.orders, "ending");
    await shows(stream, [`event ${run}`]);
  });
});

describe("a live search that continues", () => {
  test("misses and repeats nothing, wherever it was cut, and while more is committed", async () => {
    const stream = await open("kind:event,log cut");
    const expected: string[] = [];
    for (let nth = 0; nth < 4; nth++) {
      const id = `${1_800_000_000_000 + ++runs}`;
      const logs = [{ k: "console.log", ts: Number(id), msg: "cut" }];
      const made = commit(nth % 2 === 0 ? sources.orders : sources.ours, {
        events: [textOf(`${id}-0`, "cut"), textOf(`${id}-1`, "hay")],
        logs,
      });
      await world.commit(nth % 2 === 0 ? made : { ...made, owner: acme.id });
      expected.push(`log ${made.run.id}`, `event ${made.run.id}`);
    }
    await shows(stream, expected);
    stream.close();
    const ids = stream.messages().flatMap((message) => (message.event === undefined ? [message.id] : []));
    // Whether the history has them makes no difference.
    await world.record();
    for (const [place, after] of ids.entries()) {
      const coming = open("kind:event,log cut", { after });
      const during = await emit(sources.orders, "cut");
      const next = await coming;
      const last = await emit(sources.ours, "cut", acme.id);
      await shows(next, [...expected.slice(place + 1), `event ${during}`, `event ${last}`]);
      next.close();
      expected.push(`event ${during}`, `event ${last}`);
    }
  });

  test("has an id to continue after before the first match, which moves on with what others commit", async () => {
    const stream = await open("kind:event quiet");
    await until(() => positions(stream).length === 1, "the first position");
    await emit(sources.bobs, "of Bob", bob.id);
    await until(() => positions(stream).length > 1, "the next position");
    stream.close();
    const missed = await emit(sources.orders, "quiet");
    for (const after of positions(stream)) {
      const next = await open("kind:event quiet", { after });
      await shows(next, [`event ${missed}`]);
      next.close();
    }
  });

  test("says so if RUNS lacks a part of what it missed", async () => {
    const stream = await open("kind:event trimmed");
    const first = await emit(sources.orders, "trimmed");
    await shows(stream, [`event ${first}`]);
    const after = stream.ids().at(-1);
    stream.close();
    await emit(sources.orders, "trimmed");
    await nats.connection.manager.streams.purge("RUNS");
    const last = await emit(sources.orders, "trimmed");
    const next = await open("kind:event trimmed", { after });
    await shows(next, [`event ${last}`]);
    expect(next.messages()[0]).toMatchObject({ event: "skipped", data: { commits: null, items: 0 } });
  });

  test("misses nothing after a restart of NATS", async () => {
    const stream = await open("kind:event again");
    const before = await emit(sources.orders, "again");
    await shows(stream, [`event ${before}`]);
    await nats.server.crash();
    await until(() => nats.connection.status() === "connected", "the connection is back");
    const after = [await emit(sources.orders, "again"), await emit(sources.orders, "again")];
    await shows(
      stream,
      [before, ...after].map((run) => `event ${run}`),
    );
  });
});

describe("bounds", () => {
  test("are three live searches of a user and five in all; another user finds a place", async () => {
    const statuses = async (key: string, count: number) =>
      (await Promise.all(Array.from({ length: count }, () => open("", { key })))).map(({ status }) => status).toSorted();
    expect(await statuses(keys.ada, 5)).toEqual([200, 200, 200, 429, 429]);
    const refused = await api.ask("GET", "/v1/search/sse");
    expect(refused.body).toEqual({
      error: "3 live searches of ada are open on this server, the limit is 3: close some",
      code: "too_many_streams",
      details: { open: 3, most: 3 },
    });
    expect(await statuses(keys.bob, 2)).toEqual([200, 200]);
    // Streams of sources are counted apart.
    const other = await openStream(api.url, `/v1/sources/${sources.orders}/sse`);
    opened.push(other);
    expect(other.status).toBe(200);
  });

  test("cut off a reader that does not read; another one gets every match, or its number", async () => {
    const reading = await open("kind:log flood");
    const slow = await openUnreadAt(`${api.url}/v1/search/sse?q=kind:log+flood`);
    const isCut = () => api.log.some((line) => "http.route" in line && line["http.route"] === "/v1/search/sse" && "aborted" in line);
    api.log.length = 0;
    const lines = Array.from({ length: 400 }, (_, index) => ({ k: "console.log", ts: 1 + index, msg: `flood ${"ä".repeat(600)}` }));
    const sent = { commits: 0 };
    const counted = () => {
      const skipped = reading.messages().filter((message) => message.event === "skipped");
      const sum = (of: "items" | "commits"): number =>
        skipped.reduce((total, { data }) => total + (data as Record<"items" | "commits", number>)[of], 0);
      return itemsOf(reading.messages()).length + sum("items") + sum("commits") * lines.length;
    };
    const flood = async (): Promise<void> => {
      await world.commit(commit(sources.orders, { logs: lines }));
      sent.commits++;
    };
    while (!isCut()) {
      await flood();
      await until(() => counted() === sent.commits * lines.length || isCut(), `${counted()} of ${sent.commits * lines.length}`);
    }
    await until(() => counted() === sent.commits * lines.length, `${counted()} of ${sent.commits * lines.length}`);
    const before = itemsOf(reading.messages()).length;
    await until(async () => {
      await flood();
      return itemsOf(reading.messages()).length > before;
    });
    await until(() => counted() === sent.commits * lines.length, `${counted()} of ${sent.commits * lines.length}`);
    let text = "";
    try {
      for await (const chunk of slow.setEncoding("utf8")) text += String(chunk);
    } catch {
      // The server drops the rest when its end is not read.
    }
    expect(itemsOf(messagesOf(text)).length).toBeLessThan(itemsOf(reading.messages()).length);
  });
});
