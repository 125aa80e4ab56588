import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { routes } from "../../client/generated/operations.ts";
import { command } from "../../cli/commands/mcp.ts";
import { kindNames } from "../../cli/kinds/kinds.ts";
import { cuttable, cuttableJson, listAnswer, messageAnswer, wholeAnswer } from "../../cli/mcp/tools/answer.ts";
import { fieldsOfKinds } from "../../cli/mcp/tools/rows.ts";
import { effectOf, effects } from "../../cli/mcp/tools/tool.ts";
import { offeredTools, tools } from "../../cli/mcp/tools/tools.ts";
import { withInstallation } from "./installation.ts";
import { connectAgent, type Agent } from "./mcp-client.ts";

const headwater = withInstallation();
let reader: Agent;
let writer: Agent;

beforeAll(async () => {
  reader = await connectAgent(headwater, { mayWrite: false });
  writer = await connectAgent(headwater, { mayWrite: true });
});
afterAll(async () => {
  await reader.client.close();
  await writer.client.close();
});

const bytes = (text: string): number => Buffer.byteLength(text);

describe("the tools of hw mcp", () => {
  it("are those that only read, and with --write all", async () => {
    const names = async ({ client }: Agent): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);
    expect(await names(reader)).toEqual(offeredTools(false).map(({ name }) => name));
    expect(await names(writer)).toEqual(tools.map(({ name }) => name));
    expect(new Set(await names(writer)).size).toBe(tools.length);
    expect(await reader.call("deploy", { component: "a.mjs" })).toEqual({
      isError: true,
      text: "invalid_arguments: the tool deploy needs --write\nhint: start the server with `hw mcp --write`",
    });
  });

  it("say whether they change something, in words and as annotations, and refuse further arguments", async () => {
    for (const mayWrite of [true, false])
      for (const { name, description = "", annotations, inputSchema } of (await (mayWrite ? writer : reader).client.listTools()).tools) {
        const [tool] = tools.filter((each) => each.name === name);
        const effect = tool === undefined || !mayWrite ? "read" : tool.effect;
        expect({ name, description }).toMatchObject({ description: expect.stringContaining(effects[effect].sentence) as unknown });
        expect({ name, annotations, inputSchema }).toEqual({
          name,
          annotations: effects[effect].annotations,
          inputSchema: expect.objectContaining({ type: "object", additionalProperties: false }) as unknown,
        });
      }
  });

  it("fit in the context of an agent: the list takes at most 21 KB", async () => {
    expect(bytes(JSON.stringify(await writer.client.listTools()))).toBeLessThan(21_504);
  });

  it("request the operations that the command declares", () => {
    expect([...command.operations].toSorted()).toEqual([...new Set(tools.flatMap(({ operations }) => operations))].toSorted());
  });

  it("that only read request by GET, and by POST only what builds without storing", () => {
    const reading = tools.filter((tool) => effectOf(tool, true) === "read");
    const posted = reading.flatMap(({ operations }) => operations.filter((id) => routes[id].method !== "GET"));
    expect(posted).toEqual(["saveComponent"]);
    // Of these, test/cli/mcp-limits.test.ts records the requests.
    expect(offeredTools(false).filter((tool) => !reading.includes(tool))).toMatchObject([{ name: "props" }]);
  });

  it("are those of the table in docs/agents.md, with what they change", () => {
    const page = readFileSync(join(import.meta.dirname, "../../docs/agents.md"), "utf8");
    const rows = [...page.matchAll(/^\| `(\w+)` \| (\w+) \|/gm)].map(([, name, effect]) => ({ name, effect }));
    expect(rows).toEqual(tools.map(({ name, effect }) => ({ name, effect })));
  });

  it("promise no more than they read: problems names what it leaves out", () => {
    const { description } = tools.find(({ name }) => name === "problems") ?? { description: "" };
    expect(description).toContain("`unread` names what was not read");
    expect(description).toContain("dead_letters shows those of a workflow");
    expect(description).not.toContain("all is well");
  });

  it("have fields for the list of each kind", () => {
    expect(Object.keys(fieldsOfKinds).toSorted()).toEqual([...kindNames].toSorted());
    expect(fieldsOfKinds["variables"]).not.toContain("value");
  });
});

const huge = "x".repeat(2_000_000);
const wrong: readonly (readonly [what: string, tool: string, args: unknown, error: RegExp])[] = [
  ["unknown", "events", { source: "a", page: 2 }, /^events has no argument "page" \(given: 2\): its arguments are source, limit, after/],
  ["misspelled", "dry_run", { of: "a.mjs", probs: {} }, /^dry_run has no argument "probs" \(given: {}\): did you mean props\?$/],
  [
    "several",
    "events",
    { sorce: "a", limit: "9" },
    /"sorce" \(given: "a"\): did you mean source\?\nevents needs the argument source: a string/,
  ],
  ["missing", "runs", {}, /^runs needs the argument source: a string of 1 to 300 characters \(Id, name or/],
  ["text for a number", "list", { kind: "sources", limit: "ten" }, /argument limit with "ten": it must be an integer from 1 to 100/],
  ["too large a number", "list", { kind: "sources", limit: 1e9 }, /argument limit with 1000000000: it must be an integer from 1 to 100/],
  ["a fraction", "list", { kind: "sources", limit: 1.5 }, /argument limit with 1.5: it must be an integer/],
  ["null", "events", { source: null }, /argument source with null: it must be a string/],
  ["a list for text", "events", { source: ["a", "b"] }, /argument source with \["a","b"\]: it must be a string/],
  ["a list for an object", "props", { of: "a", props: [1] }, /argument props with \[1\]: it must be an object/],
  ["text for a flag", "events", { source: "a", whole: "yes" }, /argument whole with "yes": it must be true or false/],
  ["empty", "describe", { thing: "" }, /argument thing with "": it must be a string of 1 to 300 characters/],
  [
    "an unknown choice",
    "list",
    { kind: "sorces" },
    /argument kind with "sorces": did you mean sources\? It must be one of sources, workflows/,
  ],
  ["a choice of the prototype", "list", { kind: "constructor" }, /argument kind with "constructor": it must be one of sources/],
  ["of the prototype", "list", JSON.parse('{"kind":"sources","__proto__":{"limit":1}}'), /list has no argument "__proto__"/],
  ["constructor", "list", { kind: "sources", constructor: 1 }, /list has no argument "constructor" \(given: 1\)/],
  ["huge", "describe", { thing: huge }, /argument thing with "x+…" \(2000000 characters\): it must be/],
  ["of a huge name", "list", { kind: "sources", [huge]: huge }, /list has no argument "x+…" \(2000000 characters\) \(given: "x+…"/],
  ["many", "list", Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`a${n}`, n])), /\n4996 more arguments are wrong$/],
  ["deep", "list", { kind: JSON.parse("[".repeat(5_000) + "]".repeat(5_000)) }, /argument kind with \[{59}.*: it must be one of/],
];

describe("arguments that are wrong", () => {
  it.each(wrong)("%s: the error names the argument, its value, and what is accepted", async (_what, tool, args, error) => {
    const { isError, text } = await writer.call(tool, args as Readonly<Record<string, unknown>>); // Wrong on purpose.
    expect(isError).toBe(true);
    expect(text.replace(/^invalid_arguments: /, "")).toMatch(error);
    expect(bytes(text)).toBeLessThan(4_200);
  });

  it.each([
    ["of the prototype", "__proto__"],
    ["a function of the prototype", "constructor"],
    ["huge", huge],
  ])("a name that is %s is no tool", async (_what, name) => {
    const { isError, text } = await writer.call(name);
    expect([isError, text]).toEqual([true, expect.stringMatching(/^not_found: there is no tool ".{1,60}"\nhint: tools are: problems,/)]);
  });

  it("of a misspelled tool get the nearest name", async () => {
    expect((await writer.call("deplyo")).text).toMatch(/^not_found: there is no tool "deplyo"\nhint: did you mean deploy\?$/);
  });

  it("that exclude each other are refused before a request", async () => {
    const texts = [
      await writer.call("redeliver", {}),
      await writer.call("redeliver", { delivery: "a", webhook: "b" }),
      await writer.call("deploy", { component: "a.yaml", name: "b" }),
      await writer.call("dry_run", { of: "npm:a", last: true }),
    ];
    expect(texts.map(({ text }) => text.split("\n")[0])).toEqual([
      "invalid_arguments: give either delivery or webhook",
      "invalid_arguments: give either delivery or webhook",
      "invalid_arguments: props and name are for sources",
      "invalid_arguments: last is for sources",
    ]);
  });

  it("reach the API where it checks them: its code, message and hint come back, without a stack", async () => {
    expect(await reader.call("describe", { thing: "nothing" })).toEqual({
      isError: true,
      text: expect.stringMatching(/^not_found: nothing is named "nothing"\nhint: searched were: sources, /) as unknown,
    });
    const { isError, text } = await reader.call("search", { query: "stock level:fatal" });
    expect([isError, text]).toEqual([true, expect.stringMatching(/^\w+: the query is invalid at character 7: level 'fatal' is unknown/)]);
    expect((await reader.call("trace", { id: "r_unknown" })).text).toMatch(/^\w+: .*no run, event or delivery 'r_unknown' of yours/);
    expect((await reader.call("runs", { source: "dc_0123456789ab", run: ".." })).text).toMatch(
      /^failed: run_id is '\.\.', which no path can have$/,
    );
    expect(text).not.toMatch(/\n\s+at /);
  });
});

describe("answers", () => {
  it("of lists cut texts alike, with a mark, until an item takes 150 bytes", () => {
    const rows = Array.from({ length: 6 }, (_, n) => ({
      id: `dc_${n}`,
      problem: cuttable(`${n} \n 😀${"word ".repeat(200)}`),
      none: undefined,
    }));
    const text = listAnswer(rows, { next: "cursor", whole: "describe shows one whole" });
    expect(bytes(text)).toBeLessThanOrEqual(1_024);
    expect(JSON.parse(text)).toMatchObject({ next: "cursor", "…": "describe shows one whole" });
    expect(text).toContain('{"id":"dc_5","problem":"5 😀word word');
    const json = listAnswer([{ event: cuttableJson({ n: 1 }) }, { event: cuttableJson(["a".repeat(500)]) }], { whole: "events" });
    expect(json).toMatch(/^{"items":\[{"event":{"n":1}},{"event":"\[\\"a+…"}\],"…":"events"}$/);
    const few = listAnswer([{ id: "dc_0", problem: cuttable("short") }], { next: null, whole: "" });
    expect(few).toBe('{"items":[{"id":"dc_0","problem":"short"}]}');
  });

  it("of lists cut plain strings except ids, and take at most 16 KiB: the mark says how many items are left out", () => {
    const version = "1".repeat(5_000);
    const short = listAnswer([{ id: "i".repeat(500), version }], { whole: "describe shows one whole" });
    expect(JSON.parse(short)).toEqual({
      items: [{ id: "i".repeat(500), version: `${"1".repeat(99)}…` }],
      "…": "describe shows one whole",
    });
    const rows = Array.from({ length: 100 }, (_, n) => ({ id: `${n}${"i".repeat(1_000)}`, version }));
    const text = listAnswer(rows, { next: "cursor", whole: "describe shows one whole" });
    const { items } = JSON.parse(text) as { readonly items: readonly object[] };
    expect(bytes(text)).toBeLessThanOrEqual(16_384);
    expect(items.length).toBeGreaterThan(10);
    // The cursor is that of the items behind those that are left out.
    expect(JSON.parse(text)).toEqual({
      items: rows.slice(0, items.length).map(({ id }) => ({ id, version: `${"1".repeat(99)}…` })),
      "…": `${100 - items.length} of 100 items are left out: use limit ${items.length}`,
    });
    expect(listAnswer([{ id: huge }], { next: "cursor", whole: "" })).toBe(
      '{"items":[],"…":"1 of 1 items are left out: the first is too long"}',
    );
  });

  it.each([
    ["short", "message", "hint", "message\nhint: hint"],
    ["without a hint", huge, undefined, /^x+…$/],
    ["with a long message", huge, "hint", /^x+…\nhint: hint$/],
    ["with a long hint", "message", huge, /^message\nhint: x+…$/],
    ["with both long", huge, huge, /^x{2000,}…\nhint: x{900,}…$/],
  ])("of errors take at most 4 KiB with their hint: %s", (_what, message, hint, expected) => {
    const text = messageAnswer(message, hint);
    expect(bytes(text)).toBeLessThanOrEqual(4_096);
    expect(text).toMatch(expected);
  });

  it.each([
    ["a long text", { code: huge }],
    ["many items", { steps: Array.from({ length: 100_000 }, (_, n) => ({ n, text: "a".repeat(100) })) }],
    ["many fields", Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`field${n}`, { text: "a".repeat(100) }]))],
    ["emoji", { text: "😀".repeat(100_000), lists: [["😀".repeat(50_000)]] }],
    ["a deep value", { event: JSON.parse("[".repeat(5_000) + "]".repeat(5_000)) as unknown }],
    ["wide and deep", Array.from({ length: 300 }, () => Array.from({ length: 300 }, () => ({ a: ["b".repeat(300)] })))],
  ])("of one thing take at most 16 KiB and say where the rest is: %s", (_what, value) => {
    const text = wholeAnswer(value, "hw describe");
    expect(bytes(text)).toBeLessThanOrEqual(16_384);
    expect(text).toContain("…");
    expect(text).not.toContain("\uFFFD");
  });

  it("of one thing leave out nulls and empties but not in what users wrote, and show times", () => {
    const event = { a: null, b: [], created_at: 1_795_265_888 };
    const value = {
      id: "r_1",
      error: null,
      logs: [],
      started_at: 1_795_265_888,
      started_at_ms: 1_795_265_888_123,
      next_tick_at: 1_795_265_888,
      event,
    };
    expect(JSON.parse(wholeAnswer(value, ""))).toEqual({
      id: "r_1",
      started_at: "2026-11-21T12:58:08.123Z",
      next_tick_at: "2026-11-21T12:58:08.000Z",
      event,
    });
  });
});
