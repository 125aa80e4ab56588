import { Agent, EventSource } from "undici";
import { beforeAll, describe, expect, it } from "vitest";
import { commitOf, messagesOf, openStream, openUnread, shows, withStreamingApi } from "./streams-support.ts";
import { committedEvent as event } from "../committed-event.ts";
import { ada, keys } from "./support.ts";
import { until } from "../../support/until.ts";

const { api, world } = withStreamingApi({ keepAliveMs: 60_000, waitingBytes: 256 * 1024 });
let source = "";
const ids = Array.from({ length: 60 }, (_, index) => `${index + 1}-0`);
const large = JSON.stringify({ text: "x".repeat(200_000) });

beforeAll(async () => {
  source = (await api.ask("POST", "/v1/sources", { body: { component_code: "name: Emitter" } })).body.data.id;
});

const emit = (id: string, payload: string) => world.commit(commitOf(source, ada.id, [event(id, { payload })]));

describe("a slow reader", () => {
  it("is disconnected once too much is buffered, with a way to continue; others are not", async () => {
    const slow = await openUnread(api.url, source);
    const other = await openStream(api.url, `/v1/sources/${source}/sse`);
    for (const [place, id] of ids.entries()) {
      await emit(id, large);
      // Not faster than a slow reader.
      await until(() => other.ids().length > place, `${id} is read`);
    }
    await world.record();
    await shows(other, ids);
    other.close();
    let text = "";
    for await (const chunk of slow.setEncoding("utf8")) text += String(chunk);
    const seen = messagesOf(text).map(({ id }) => id);
    expect(seen.length).toBeLessThan(ids.length);
    expect(seen).toEqual(ids.slice(0, seen.length));
    const resume = /: this stream was cut off, .*'Last-Event-ID: (\S+)'[^\n]*\n\n$/.exec(text)?.[1];
    expect(resume).toBe(seen.at(-1));
    const next = await openStream(api.url, `/v1/sources/${source}/sse`, { headers: { "last-event-id": resume ?? "" } });
    await shows(next, ids.slice(seen.length));
    next.close();
  });

  it("reads a history of any size at its own pace", async () => {
    const slow = await openUnread(api.url, source, { "last-event-id": "0-0" });
    await emit("61-0", "{}");
    let text = "";
    for await (const chunk of slow.setEncoding("utf8")) {
      text += String(chunk);
      if (String(chunk).includes("id: 61-0\n")) break;
    }
    expect(messagesOf(text).map(({ id }) => id)).toEqual([...ids, "61-0"]);
  });
});

describe("a standard client", () => {
  it("understands the stream", async () => {
    const agent = new Agent();
    const dispatcher = agent.compose(
      (dispatch) => (options, handler) =>
        dispatch({ ...options, headers: { ...plain(options.headers), authorization: `Bearer ${keys.ada}` } }, handler),
    );
    const heard: string[] = [];
    const client = new EventSource(`${api.url}/sources/${source}/sse?replay=1`, { dispatcher });
    client.onmessage = ({ data, lastEventId }) =>
      heard.push(`${lastEventId} ${JSON.stringify((JSON.parse(String(data)) as { event: unknown }).event)}`);
    await until(() => heard.length === 1, "the last event");
    await emit("62-0", '{"a":1}');
    await until(() => heard.length === 2, "the next one");
    expect(heard).toEqual(["61-0 {}", '62-0 {"a":1}']);
    client.close();
    await agent.destroy();
  });
});

/** As undici's fetch hands them on: a list of names and values, or an object. */
function plain(headers: unknown): Record<string, string> {
  if (!Array.isArray(headers)) return { ...(headers as Record<string, string>) };
  const list = headers.map(String);
  return Object.fromEntries(list.flatMap((name, index) => (index % 2 === 0 ? [[name, list[index + 1] ?? ""]] : [])));
}
