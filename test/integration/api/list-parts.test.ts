import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { beforeAll, describe, expect, it } from "vitest";
import type { ApiPorts } from "../../../api/ports.ts";
import { maxPartBytes } from "../../../api/http/response/list-parts.ts";
import { commitOf } from "./streams-support.ts";
import { committedEvent as event } from "../committed-event.ts";
import { ada, keys, withApi, type TestApi } from "./support.ts";
import { until } from "../../support/until.ts";

const clientCount = 3;
const megabyte = 10 ** 6;
const ids = Array.from({ length: 24 }, (_, index) => `${index + 1}-0`);
/** Rows of parts, in bytes, in the order in which they were read. */
const parts: { readonly source: string; readonly bytes: number }[] = [];
let source = "";
let other = "";

const api: TestApi = withApi(
  {},
  {
    get history(): ApiPorts["history"] {
      const { pageEvents, ...history } = api.history;
      return {
        ...history,
        async pageEvents(of, page) {
          const listed = await pageEvents(of, page);
          parts.push({ source: of, bytes: listed.items.reduce((sum, { payload }) => sum + payload.length, 0) });
          return listed;
        },
      };
    },
  },
);

beforeAll(async () => {
  const create = async (key: string): Promise<string> =>
    (await api.ask("POST", "/v1/sources", { key, body: { component_code: "name: Emitter" } })).body.data.id;
  [source, other] = [await create(keys.ada), await create(keys.bob)];
  const payload = JSON.stringify({ text: "x".repeat(megabyte) });
  for (const [index, id] of ids.entries())
    await api.history.recordCommits("test", [{ seq: index + 1, commit: commitOf(source, ada.id, [event(id, { payload })]) }]);
  await api.history.recordCommits("other", [{ seq: 1, commit: commitOf(other, "u_bob", [event("1-0", { payload })]) }]);
});

const path = (id: string, query = "expand=event&limit=100"): string => `/v1/sources/${id}/event_summaries?${query}`;

/** A client that reads nothing until it is resumed. */
async function unreadList(): Promise<Socket> {
  const socket = connect({ port: Number(new URL(api.url).port), host: "127.0.0.1" });
  await once(socket, "connect");
  socket.pause().write(`GET ${path(source)} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${keys.ada}\r\nConnection: close\r\n\r\n`);
  return socket;
}

describe("a list with events of a megabyte", () => {
  it("is the same list as one of small pages", async () => {
    const whole = await api.ask("GET", path(source));
    expect(whole.status).toBe(200);
    expect(whole.body.data.map(({ id }: { id: string }) => id)).toEqual(ids.toReversed());
    expect(whole.body.page_info).toEqual({ total_count: 24, count: 24, start_cursor: "24-0", end_cursor: "1-0", excluded_count: 0 });
    expect(whole.body.data[7].event.text.length).toBe(megabyte);
    const legacy = await api.ask("GET", `/v1/sources/${source}/events?limit=100`);
    expect(legacy.body.data.map(({ id }: { id: string }) => id)).toEqual(ids.toReversed());
    expect(Object.keys(legacy.body)).toEqual(["data"]);
    const before = await api.ask("GET", path(source, "limit=10&before=14-0&exclude=event"));
    expect(before.body.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(14, 24).toReversed());
    expect(before.body.page_info).toMatchObject({ count: 10, start_cursor: "24-0", end_cursor: "15-0" });
  });

  it("is read in parts as its client reads, and others are answered in the meantime", async () => {
    parts.length = 0;
    const clients = await Promise.all(Array.from({ length: clientCount }, unreadList));
    await until(() => read().length > 0);
    expect((await api.ask("GET", path(other), { key: keys.bob })).body.data.length).toBe(1);
    const stable = await untilStable(() => read().length);
    // What the operating system buffers for each client is not ours.
    expect(read().reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(clientCount * 12 * megabyte);
    expect(Math.max(...parts.map(({ bytes }) => bytes))).toBeLessThanOrEqual(maxPartBytes + 1.1 * megabyte);
    const texts = await Promise.all(clients.map(textOf));
    expect(texts.map((text) => text.split('"indexed_at_ms"').length - 1)).toEqual(clients.map(() => ids.length));
    expect(read().length).toBeGreaterThan(stable);
  });
});

const read = () => parts.filter((part) => part.source === source);

async function textOf(socket: Socket): Promise<string> {
  let text = "";
  for await (const chunk of socket.setEncoding("latin1")) text += String(chunk);
  return text;
}

/** Waits until the number has not changed during many turns in which the API answers requests. */
async function untilStable(count: () => number): Promise<number> {
  for (let last = -1; last !== count();) {
    last = count();
    for (let nth = 0; nth < 20; nth++) await api.ask("GET", "/v1/users/me", { key: keys.bob });
  }
  return count();
}
