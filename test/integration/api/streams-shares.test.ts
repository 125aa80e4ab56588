import { createHash } from "node:crypto";
import { get, type IncomingMessage } from "node:http";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { ada, bob, keys } from "./support.ts";
import { until } from "../../support/until.ts";
import { commitOf, openStream, shows, withStreamingApi, type OpenStream } from "./streams-support.ts";
import { committedEvent as event } from "../committed-event.ts";

const maxConnections = 48;
const unread = { perUser: 3_000_000, total: 4_500_000 };
const { api, world } = withStreamingApi({ keepAliveMs: 60_000, waitingBytes: 2 ** 20, unread }, { maxConnections });
const adasKeys = [keys.ada, "second-key-of-ada", "third-key-of-ada"];
const organizations = ["o_first", "o_second"];
let sources: Readonly<Record<keyof typeof keys, string>> = { ada: "", bob: "" };
let ofOrganization = "";

beforeAll(async () => {
  for (const key of adasKeys.slice(1)) {
    const hash = createHash("sha256").update(key).digest("hex");
    const grant = { scopes: ["read", "write"] as const, expiresAt: null };
    await api.accounts.createKey(ada.id, { id: `pk_${hash.slice(0, 6)}`, hash, prefix: "key", name: "test", ...grant }, 50);
  }
  for (const id of organizations)
    await api.accounts.createOrganization({ id, name: id, orgname: id, email: `${id}@example.com` }, [ada.id]);
  const create = async (key: string, query = ""): Promise<string> =>
    (await api.ask("POST", `/v1/sources${query}`, { key, body: { component_code: "name: Emitter" } })).body.data.id;
  sources = { ada: await create(keys.ada), bob: await create(keys.bob) };
  ofOrganization = await create(keys.ada, `?org_id=${organizations[0]}`);
});

const opened: IncomingMessage[] = [];
const streams: OpenStream[] = [];
afterEach(async () => {
  for (const response of opened.splice(0)) response.destroy();
  for (const stream of streams.splice(0)) stream.close();
  // Every connection has been released.
  await until(async () =>
    (await Promise.all(Array.from({ length: 12 }, () => api.ask("GET", "/v1/users/me")))).every(({ status }) => status === 200),
  );
});

/** A stream whose client reads nothing, or the refusal. */
function open(key: string, source: string, from: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` };
    get(`${api.url}/v1/sources/${source}/sse`, { headers, agent: false, localAddress: from }, (response) => {
      opened.push(response);
      resolve(response.pause());
    }).on("error", reject);
  });
}

describe("live streams of one user", () => {
  it("are at most a quarter of the connections, with all keys, organizations and addresses together", async () => {
    const statuses: (number | undefined)[] = [];
    for (let nth = 0; nth < 40; nth++) {
      const source = nth % 2 === 0 ? sources.ada : ofOrganization;
      statuses.push((await open(adasKeys[nth % 3] ?? "", source, `127.0.0.${2 + (nth % 3)}`)).statusCode);
    }
    expect(statuses.filter((status) => status === 200).length).toBe(maxConnections / 4);
    expect(statuses.filter((status) => status === 429).length).toBe(40 - maxConnections / 4);
    for (let nth = 0; nth < 20; nth++) expect((await api.ask("GET", "/v1/users/me", { key: keys.bob })).status).toBe(200);
    expect((await open(keys.bob, sources.bob, "127.0.0.9")).statusCode).toBe(200);
    expect((await api.ask("GET", "/v1/users/me")).status).toBe(200);
  });
});

describe("what streams hold for readers that do not read", () => {
  const payload = JSON.stringify({ text: "x".repeat(300_000) });
  const emit = (user: typeof ada, source: string, id: string) => world.commit(commitOf(source, user.id, [event(id, { payload })]));

  it("is bounded for a user: the slowest lose their streams, those that read do not", async () => {
    const slow: IncomingMessage[] = [];
    for (let nth = 0; nth < 5; nth++) slow.push(await open(keys.ada, sources.ada, "127.0.0.2"));
    const reading = await openStream(api.url, `/v1/sources/${sources.ada}/sse`);
    const other = await openStream(api.url, `/v1/sources/${sources.bob}/sse`, { key: keys.bob });
    streams.push(reading, other);
    // The operating system takes a few megabytes for each connection.
    const ids = Array.from({ length: 40 }, (_, index) => `${index + 1}-0`);
    for (const [index, id] of ids.entries()) {
      await emit(ada, sources.ada, id);
      await until(() => reading.ids().length > index);
    }
    await emit(bob, sources.bob, "1-0");
    await shows(other, ["1-0"]);
    await shows(reading, ids);
    const texts = await Promise.all(slow.map(textOf));
    expect(texts.every((text) => !text.includes("id: 40-0\n"))).toBe(true);
    expect(texts.some((text) => /: this stream was cut off, .*Last-Event-ID: \d+-0/.test(text))).toBe(true);
  });
});

async function textOf(response: IncomingMessage): Promise<string> {
  let text = "";
  try {
    for await (const chunk of response.setEncoding("utf8")) text += String(chunk);
  } catch {
    // The server has dropped what was unread.
  }
  return text;
}
