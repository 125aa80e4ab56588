import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { create, createWebhook, deploy, postJson, subscribe } from "../support/system/sources.ts";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { until } from "../support/until.ts";
import { listAnswer } from "../../cli/mcp/tools/answer.ts";
import { attemptRow } from "../../cli/mcp/tools/rows.ts";
import type { Attempt } from "../../client/generated/operations.ts";
import { withInstallation } from "./installation.ts";
import { connectAgent, type Agent } from "./mcp-client.ts";

/** Lists of `hw mcp` are short, whatever the things contain, and have no secrets. */
const headwater = withInstallation();
const count = 6;
const long = "a long text that says again and again what it has said before ".repeat(20);
const secret = "top-secret-value";
let agent: Agent;
let receiver: Receiver;
let source = "";
let failing = "";
let webhook = "";

interface List {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly next?: string;
}

const failingCode = `export default {
  name: "Long", props: { http: "$.interface.http" },
  run({ body }) {
    console.warn(body.text);
    this.$emit(body, { summary: body.text });
    throw new Error(body.text);
  },
};`;

beforeAll(async () => {
  agent = await connectAgent(headwater, { mayWrite: false });
  receiver = await startReceiver(() => 410);
  const code = failingCode.replace("throw new Error(body.text);", "");
  const working = await deploy(headwater, code, {}, { name: `emits ${long.slice(0, 200)}` });
  source = working.id;
  let last = working;
  for (let n = 1; n < count; n++) last = await deploy(headwater, failingCode, {}, { name: `source ${n} ${long.slice(0, 200)}` });
  failing = last.id;
  webhook = await createWebhook(headwater, receiver.url);
  for (let n = 1; n < count; n++)
    await create(headwater, "/webhooks", {
      url: `${receiver.url}/${long.replaceAll(" ", "-").slice(0, 400)}`,
      name: `${n} ${long.slice(0, 200)}`,
    });
  await subscribe(headwater, source, webhook);
  for (let n = 0; n < count; n++)
    for (const { endpoint } of [working, last]) expect((await postJson(endpoint, { text: `${n} ${long}` })).status).toBe(200);
  await until(async () => (await agent.json<List>("events", { source })).items.length === count, "the events are listed");
  await until(async () => (await agent.json<List>("runs", { source })).items.length >= count, "the runs are listed");
  await until(
    async () => (await agent.json<List>("runs", { source: failing, failed: true })).items.length === count,
    "the failed runs are listed",
  );
  const hasProblem = async (): Promise<boolean> =>
    (await agent.json<List>("list", { kind: "sources" })).items.some(({ id, problem }) => id === failing && problem !== undefined);
  await until(hasProblem, "the source has a problem");
  await until(async () => (await agent.json<List>("deliveries", { of: webhook })).items.length >= 1, "an attempt is listed");
});
afterAll(async () => {
  await agent.client.close();
  await receiver.close();
});

describe("a list of hw mcp", () => {
  it.each([
    ["sources", "list", () => ({ kind: "sources", limit: count }), true],
    ["webhooks", "list", () => ({ kind: "webhooks", limit: count }), true],
    ["events", "events", () => ({ source, limit: count }), true],
    ["runs", "runs", () => ({ source, limit: count }), false],
    ["failed runs", "runs", () => ({ source: failing, limit: count, failed: true }), true],
    ["lines", "logs", () => ({ source, limit: count }), true],
    ["found items", "search", () => ({ query: `source:${source}`, limit: count }), true],
  ] as const)("takes at most 1 KB for six %s", async (_what, tool, args, isCut) => {
    const { isError, text } = await agent.call(tool, args());
    expect({ isError, items: (JSON.parse(text) as List).items.length }).toEqual({ isError: false, items: count });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_024);
    expect(text.includes("…")).toBe(isCut);
    expect(text).not.toMatch(/null|\n|": /);
  });

  it("takes at most 1 KB for six failed deliveries, and its causes are cut", async () => {
    const { data } = (await headwater.call<{ readonly data: readonly Attempt[] }>("GET", `/webhooks/${webhook}/deliveries`)).body;
    const [attempt] = data;
    if (attempt === undefined) throw new Error("no attempt is listed");
    const rows = Array.from({ length: count }, () => attemptRow({ ...attempt, cause: long }));
    const text = listAnswer(rows, { next: "eyJhdCI6MTc5NTI2NTg4ODEyMywiaWQiOiJkbHZfMDEyMyJ9", whole: "trace of the delivery shows all" });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_024);
    const listed = await agent.json<List>("deliveries", { of: webhook, limit: count });
    expect(listed.items[0]).toMatchObject({
      delivery: attempt.delivery_id,

      outcome: attempt.outcome,
      status: 410,
    });
  });

  it("goes on with next, and shows items whole if asked to", async () => {
    const first = await agent.json<List>("events", { source, limit: 4 });
    const rest = await agent.json<List>("events", { source, limit: 4, after: first.next });
    const ids = [...first.items, ...rest.items].map(({ id }) => id);
    expect([new Set(ids).size, rest.next]).toEqual([count, undefined]);
    const { text } = await agent.call("events", { source, limit: 1, whole: true });
    expect(text).toContain(long.trim());
  });

  it("has names of variables and not their values, and nothing secret in anything that can be described", async () => {
    await headwater.ok("variables", "set", "PLAIN", "a-plain-value");
    await headwater.ok("variables", "set", "SECRET", secret, "--secret");
    const code = `export default { name: "Keeps", version: "1", props: { key: { type: "string", secret: true } }, run() {} };`;
    const { id } = await deploy(headwater, code, { key: secret }, { name: "keeps" });
    const { items } = await agent.json<List>("list", { kind: "variables" });
    expect(items.toSorted((a, b) => String(a["name"]).localeCompare(String(b["name"])))).toMatchObject([
      { name: "PLAIN", origin: "own" },
      { name: "SECRET", secret: true },
    ]);
    const texts = await Promise.all([
      agent.call("list", { kind: "variables" }),
      agent.call("describe", { thing: id }),
      agent.call("props", { of: "keeps" }),
      agent.call("list", { kind: "keys" }),
    ]);
    for (const { isError, text } of texts) {
      expect(isError).toBe(false);
      expect(text).not.toContain("a-plain-value");
      expect(text).not.toContain(secret);
      expect(text).not.toContain(headwater.key);
    }
  });
});
