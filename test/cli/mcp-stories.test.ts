import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { create, createWebhook, deploy, postJson, subscribe } from "../support/system/sources.ts";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { until } from "../support/until.ts";
import { withInstallation } from "./installation.ts";
import { connectAgent, type Agent } from "./mcp-client.ts";

/** What agents do with `hw mcp`, on a running server. */
const headwater = withInstallation();
let agent: Agent;

interface List {
  readonly items: readonly Readonly<Record<string, string>>[];
}

beforeAll(async () => {
  agent = await connectAgent(headwater, { mayWrite: true });
});
afterAll(() => agent.client.close());

const write = (file: string, text: string): Promise<void> => writeFile(join(headwater.world.directory, file), text);
const items = async (tool: string, args: object): Promise<List["items"]> => (await agent.json<List>(tool, { ...args })).items;

it("an agent goes from nothing to a deployed component, and finds the error of its run", async () => {
  expect(await items("problems", {})).toEqual([]);

  // A template becomes a file.
  expect((await items("template", {})).map(({ template }) => template)).toContain("http");
  const { file, code } = await agent.json<{ file: string; code: string }>("template", { template: "http", title: "Agent orders" });
  expect(file).toBe("http.ts");
  const written = code.replace(
    "this.$emit(",
    'if (event.body?.item === "pears") throw new Error("negative stock of pears");\n    this.$emit(',
  );
  await write(file, written.replace("run(event) {", "run(event {"));
  expect(await agent.call("validate", { file })).toMatchObject({
    isError: true,
    text: expect.stringMatching(/^\w+: .*http\.ts/) as unknown,
  });
  await write(file, written);
  expect(await agent.json("validate", { file })).toEqual({
    valid: true,
    name: "Agent orders",
    version: "0.1.0",
    props: ["http"],
    files: 1,
  });
  expect(await agent.json("props", { of: file })).toEqual({ configurable_props: [{ name: "http", type: "$.interface.http" }] });

  // What it would do.
  const event = { method: "POST", path: "/orders", body: { item: "apples" } };
  const tried = await agent.json("dry_run", { of: file, event });
  expect(tried).toMatchObject({ status: "succeeded", dry_run: true, response: { status: 200 }, emits: [{ summary: "POST /orders" }] });
  expect(await items("list", { kind: "sources" })).toEqual([]);

  // It runs.
  const { id } = await agent.json<{ id: string }>("deploy", { component: file, name: "agent orders" });
  expect(await agent.json("dry_run", { of: "agent-orders", event })).toMatchObject({ status: "succeeded", source_id: id });
  expect(await agent.json("run", { source: "agent-orders", event })).toMatchObject({ status: "succeeded", trigger: "manual" });
  await agent.call("run", { source: "agent-orders", event: { ...event, body: { item: "pears" } } });
  await until(async () => (await items("runs", { source: id, failed: true })).length === 1, "the failed run is listed");
  const [failed] = await items("runs", { source: id, failed: true });
  expect(failed).toMatchObject({ status: "failed", error: "negative stock of pears" });
  expect(await agent.json("runs", { source: id, run: failed?.["id"] })).toMatchObject({ error: { message: "negative stock of pears" } });

  // What came of it, and what went wrong.
  await until(async () => (await items("events", { source: id })).length === 1, "the event is listed");
  const [emitted] = await items("events", { source: id });
  const { text: tree } = await agent.call("trace", { id: emitted?.["id"], of: id });
  expect(tree).toMatch(/^began .*\n.*SPAN +STATUS[^]*run agent orders +succeeded[^]*> +└ Event/);
  await until(async () => (await items("search", { query: `source:${id} kind:error pears` })).length === 1, "the error is found");
  const [found] = await items("search", { query: `source:${id} kind:error pears` });
  expect(found).toMatchObject({ source: "agent orders", text: expect.stringContaining("negative stock of pears") as unknown });
  expect((await agent.call("trace", { id: found?.["trace"] })).text).toMatch(/^> .*run agent orders +failed/m);
  await until(async () => (await items("problems", {})).length === 1, "the source is a problem");
  expect(await items("problems", {})).toMatchObject([{ kind: "source", id, state: "failing", problem: /pears/ }].map(matching));

  // It is fixed.
  await write(file, code);
  expect(await agent.json("update", { source: id, component: file })).toMatchObject({ id, name: "agent orders" });
  await agent.json("run", { source: id, event: { ...event, body: { item: "pears" } } });
  await until(async () => (await items("problems", {})).length === 0, "all is well");
  const { total } = await agent.json<{ total: object }>("metrics", { of: id });
  expect(total).toMatchObject({ runs: 3, errors: 1 });
});

const matching = (fields: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value instanceof RegExp ? (expect.stringMatching(value) as unknown) : value]),
  );

describe("an agent", () => {
  it("finds components, and reads their props and options", async () => {
    expect(await items("catalogue", { query: "schedule", type: "source" })).toContainEqual(
      expect.objectContaining({ component: "headwater-schedule", type: "source" }),
    );
    expect(
      (await agent.json<{ configurable_props: readonly object[] }>("props", { of: "headwater-schedule" })).configurable_props,
    ).toContainEqual(expect.objectContaining({ name: "timer", type: "$.interface.timer" }));
    await write(
      "cities.mjs",
      `export default { name: "Cities", version: "1", props: { city: { type: "string", async options({ query }) { return ["Berlin", "Bern", "Bonn"].filter((each) => each.startsWith(query ?? "")); } } }, run() {} };`,
    );
    const { id } = await agent.json<{ id: string }>("deploy", { component: "cities.mjs", props: { city: "Bonn" }, name: "cities" });
    expect(await agent.json("props", { of: "cities" })).toMatchObject({ configured_props: { city: "Bonn" } });
    expect(await agent.json("options", { of: "cities", prop: "city", query: "Ber" })).toMatchObject({ options: ["Berlin", "Bern"] });
    expect(await agent.json("pause", { thing: id })).toEqual({ id, active: false });
    expect(await agent.json("resume", { thing: "cities" })).toEqual({ id, active: true });
    expect((await agent.call("deploy", { component: "cities.mjs", props: { town: 1 } })).text).toMatch(
      /^invalid_props: .*town[^]*\nhint: /,
    );
  });

  it("writes a workflow, tests one step, runs and repeats it, and approves a run that waits", async () => {
    await mkdir(join(headwater.world.directory, "steps"), { recursive: true });
    const step = (body: string): string =>
      `export default { type: "action", name: "A step", version: "1.0.0", async run({ steps, $ }) { ${body} } };\n`;
    await write("steps/ask.mjs", step("$.flow.suspend()"));
    await write("steps/charge.mjs", step('if (steps.trigger.event.fails) throw new Error("no stock"); return { charged: true };'));
    const yaml = "name: agent billing\nsteps:\n  - { name: charge, file: steps/charge.mjs }\n";
    await write("billing.yaml", yaml);
    expect(await agent.json("validate", { file: "billing.yaml" })).toMatchObject({ valid: true, built: [{ step: "charge" }] });
    const { id } = await agent.json<{ id: string }>("deploy", { component: "billing.yaml" });
    expect((await agent.call("deploy", { component: "billing.yaml" })).text).toMatch(
      /^failed: workflow "agent billing" exists as p_\w+\nhint: the tool update/,
    );
    const tested = await agent.json("test_workflow", { workflow: "agent billing", event: {}, until_step: "charge" });
    expect(tested).toMatchObject({ test: true, status: "succeeded", steps: [{ name: "charge", $return_value: { charged: true } }] });

    const run = await agent.json<{ id: string }>("run", { source: id, event: { fails: true } });
    await until(async () => (await items("runs", { source: id, failed: true })).length === 1, "the run is listed");
    expect(await items("runs", { source: id })).toMatchObject([{ id: run.id, status: "failed", steps: "0/1", error: "no stock" }]);
    expect(await agent.json("repeat", { workflow: id, run: run.id, event: { fails: false } })).toMatchObject({ repeats: run.id });

    await write("draft.yaml", `${yaml}  - { name: ask, file: steps/ask.mjs }\n`);
    const draft = await agent.json("test_workflow", { workflow: id, event: {}, file: "draft.yaml" });
    expect(draft).toMatchObject({ steps: [{ name: "charge" }, { name: "ask", flow: { kind: "suspend" } }] });
    expect(await agent.json("update", { source: id, component: "draft.yaml" })).toMatchObject({ id, name: "agent billing" });
    const [first, second] = [
      await agent.json<{ id: string }>("run", { source: id, event: {} }),
      await agent.json<{ id: string }>("run", { source: id, event: {} }),
    ];
    const isWaiting = async (): Promise<boolean> =>
      (await items("runs", { source: id })).filter(({ status }) => status === "suspended").length === 2;
    await until(isWaiting, "both runs wait");
    expect(await agent.json("cancel", { workflow: id, run: first.id, reason: "wrong customer" })).toMatchObject({ status: "canceled" });
    await agent.json("resume", { thing: id, run: second.id, data: { approved: true } });
    await until(
      async () => (await items("runs", { source: id })).some((each) => each["id"] === second.id && each["status"] === "succeeded"),
      "it ends",
    );
    const outside = await agent.call("validate", { file: "../elsewhere.yaml" });
    expect([outside.isError, outside.text]).toEqual([true, expect.stringMatching(/^invalid_arguments: \.\.\/elsewhere\.yaml is outside /)]);
    expect((await agent.call("validate", { file: "/etc/../etc/hosts.yaml" })).isError).toBe(true);
  });

  describe("looks at deliveries", () => {
    let receiver: Receiver;
    let status = 410;
    beforeAll(async () => {
      receiver = await startReceiver(() => status);
    });
    afterAll(() => receiver.close());

    it("and delivers dead letters again", async () => {
      const code = `export default { name: "Parcels", props: { http: "$.interface.http" }, run({ body }) { this.$emit(body); } };`;
      const source = await deploy(headwater, code, {}, { name: "parcels" });
      const webhook = await createWebhook(headwater, receiver.url);
      await subscribe(headwater, source.id, webhook);
      await postJson(source.endpoint, { n: 1 });
      await until(async () => (await items("dead_letters", { of: webhook })).length === 1, "the delivery is dead");
      const [letter] = await items("dead_letters", { of: webhook });
      const dead = (): Promise<List["items"]> => items("deliveries", { of: webhook, outcome: "dead" });
      await until(async () => (await dead()).length === 1, "the attempt is listed");
      expect(await dead()).toMatchObject([{ delivery: letter?.["delivery"], status: 410 }]);
      await until(async () => (await items("problems", {})).filter(({ id }) => id === webhook).length === 2, "the webhook is disabled");
      const wrong = (await items("problems", {})).filter(({ id }) => id === webhook);
      expect(wrong).toMatchObject([
        { kind: "webhook", state: "disabled" },
        { kind: "dead_letters", count: 1 },
      ]);
      expect((await agent.call("trace", { id: letter?.["delivery"] })).text).toContain("delivery");
      status = 200;
      await agent.json("resume", { thing: webhook });
      await agent.json("redeliver", { webhook, deliveries: [letter?.["delivery"]] });
      await until(async () => (await items("deliveries", { of: webhook, outcome: "delivered" })).length === 1, "it is delivered");
      expect(await agent.json("redeliver", { webhook, since: "2h", dry_run: true })).toEqual({ matching: 0, queued: 0 });
    });
  });

  it("of another user sees nothing of a source, and neither does its owner once it is deleted", async () => {
    const code = `export default { name: "Private", version: "1", run() { this.$emit({ secret: 1 }); } };`;
    const { id } = await deploy(headwater, code, {}, { name: "private" });
    const { id: run } = await agent.json<{ id: string }>("run", { source: id });
    await until(async () => (await items("runs", { source: id })).length === 1, "the run is listed");
    const other = await connectAgent(headwater, { mayWrite: true, key: (await headwater.addUser()).key });
    const calls = [
      ["describe", { thing: id }],
      ["runs", { source: id, run }],
      ["events", { source: id }],
      ["metrics", { of: id }],
      ["trace", { id: run, of: id }],
      ["dry_run", { of: id }],
      ["run", { source: id }],
      ["update", { source: id, props: {} }],
      ["pause", { thing: id }],
    ] as const;
    const codesOf = async ({ call }: Agent): Promise<string[]> =>
      Promise.all(calls.map(async ([tool, args]) => `${tool} ${(await call(tool, args)).text.split(":")[0]}`));
    const refused = calls.map(([tool]) => `${tool} not_found`);
    expect(await codesOf(other)).toEqual(refused);
    expect((await other.json<List>("list", { kind: "sources" })).items).toEqual([]);
    expect((await other.json<List>("search", { query: `source:${id}` })).items).toEqual([]);
    await other.client.close();
    await headwater.ok("delete", "--yes", id);
    expect(await codesOf(agent)).toEqual(refused);
  });

  it("with a key that may only read gets what a reading server offers by GET, and the API's refusal of the rest", async () => {
    const { key } = await create<{ readonly key: string }>(headwater, "/users/me/keys", { name: "reads", scopes: ["read"] });
    const least = await connectAgent(headwater, { mayWrite: true, key });
    await write("small.mjs", `export default { name: "Small", version: "1", run() {} };`);
    for (const [tool, args] of [
      ["problems", {}],
      ["list", { kind: "workflows" }],
      ["catalogue", { query: "timer" }],
      ["search", { query: "anything" }],
      ["metrics", {}],
    ] as const)
      expect({ tool, ...(await least.call(tool, args)) }).toMatchObject({ tool, isError: false });
    expect(await least.call("deploy", { component: "small.mjs" })).toEqual({
      isError: true,
      text: expect.stringMatching(/^scope_missing: POST needs the scope 'write'[^]*\nhint: `hw keys list`/) as unknown,
    });
    await least.client.close();
  });
});
