import { afterEach, beforeAll, expect, it } from "vitest";
import { errorSchema } from "../../../api/http/response/errors.ts";
import { ada, bob, keys } from "./support.ts";
import { commitOf, openStream, shows, withStreamingApi, type OpenStream } from "./streams-support.ts";
import { committedEvent as event } from "../committed-event.ts";
import { until } from "../../support/until.ts";

const most = 16;
const { api, nats, world } = withStreamingApi({ keepAliveMs: 200, waitingBytes: 256 * 1024 }, { streamsPerUser: most });
const opened: OpenStream[] = [];
let sources: Readonly<Record<keyof typeof keys, string>> = { ada: "", bob: "" };

beforeAll(async () => {
  const create = async (key: string): Promise<string> =>
    (await api.ask("POST", "/v1/sources", { key, body: { component_code: "name: Emitter" } })).body.data.id;
  sources = { ada: await create(keys.ada), bob: await create(keys.bob) };
});

/** Requests for streams, each of which leaves a line in the log when it is over: then it is counted no more. */
let asked = 0;
afterEach(async () => {
  for (const stream of opened.splice(0)) stream.close();
  const isOfStream = (line: object): boolean => "http.route" in line && String(line["http.route"]).endsWith("sse");
  await until(() => api.log.filter(isOfStream).length === asked, "the server has seen all of them leave");
});

function ask(method: string, path: string, user: keyof typeof keys) {
  asked++;
  return api.ask(method, path, { key: keys[user] });
}

async function open(user: keyof typeof keys, path = "sse"): Promise<OpenStream> {
  asked++;
  const stream = await openStream(api.url, `/v1/sources/${sources[user]}/${path}`, { key: keys[user] });
  opened.push(stream);
  return stream;
}

it("opens as many streams as the user's limit allows, even for concurrent requests", async () => {
  const all = await Promise.all(Array.from({ length: most + 10 }, (_, index) => open("ada", index % 2 === 0 ? "sse" : "logs/sse")));
  const statuses = Map.groupBy(all, ({ status }) => status);
  expect([...statuses.keys()].toSorted()).toEqual([200, 429]);
  expect(statuses.get(200)?.length).toBe(most);
  const refused = await ask("GET", `/v1/sources/${sources.ada}/sse`, "ada");
  expect(errorSchema.parse(refused.body)).toEqual({
    error: `${most} streams of ada are open on this server, the limit is ${most}: close some`,
    code: "too_many_streams",
    details: { open: most, most },
  });
  expect(refused.headers.get("retry-after")).toBe("60");
  expect((await open("bob")).status).toBe(200);
});

it("does not count ended streams", async () => {
  const fill = async (): Promise<readonly OpenStream[]> => {
    const all = await Promise.all(Array.from({ length: most }, () => open("ada")));
    expect(all.map(({ status }) => status)).toEqual(Array(most).fill(200));
    return all;
  };
  const [first] = await fill();
  expect((await open("ada")).status).toBe(429);
  first?.close();
  await until(async () => (await open("ada")).status === 200, "there is room again");
  expect((await ask("GET", "/v1/sources/dc_none/sse", "bob")).status).toBe(404);
  expect((await ask("HEAD", `/v1/sources/${sources.bob}/sse`, "bob")).status).toBe(200);
  expect((await Promise.all(Array.from({ length: most }, () => open("bob")))).map(({ status }) => status)).toEqual(Array(most).fill(200));
});

it("reads RUNS once for all streams, sends to each, and keeps each open", async () => {
  const all = await Promise.all((["ada", "bob"] as const).flatMap((user) => Array.from({ length: most }, () => open(user))));
  expect((await nats.connection.manager.streams.info("RUNS")).state.consumer_count).toBe(1);
  for (const id of ["1-0", "2-0"]) {
    await world.commit(commitOf(sources.ada, ada.id, [event(id)]));
    await world.commit(commitOf(sources.bob, bob.id, [event(id)]));
  }
  for (const stream of all) await shows(stream, ["1-0", "2-0"]);
  const comments = (stream: OpenStream): number => stream.text().split(":sse-handshake").length - 1;
  await until(() => all.every((stream) => comments(stream) >= 4), "each gets its comments");
});
