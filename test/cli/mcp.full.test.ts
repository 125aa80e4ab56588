import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { inherited, program, startHwProcess } from "./hw.ts";
import { withInstallation } from "./installation.ts";
import { agentOf, type Agent } from "./mcp-client.ts";

/** `hw mcp` as a process: test/cli/mcp.test.ts and its neighbours test the tools. */
const headwater = withInstallation();
let reader: Agent;
let writer: Agent;

beforeAll(async () => {
  await writeFile(
    join(headwater.world.directory, "noted.mjs"),
    'export default { name: "Noted", version: "1", props: { prefix: { type: "string" } }, run(event) { console.log(this.prefix); this.$emit(event ?? null); } };\n',
  );
  await writeFile(join(headwater.world.directory, "broken.mjs"), "export default {\n  run( { }\n};\n");
  reader = await connect();
  writer = await connect("--write");
});
afterAll(async () => {
  await reader.client.close();
  await writer.client.close();
});

async function connect(...flags: readonly string[]): Promise<Agent> {
  const { directory, env } = headwater.world;
  const client = new Client({ name: "test", version: "1" });
  const options = { command: process.execPath, args: [program, "mcp", ...flags], cwd: directory, env: { ...inherited(), ...env } };
  await client.connect(new StdioClientTransport(options));
  return agentOf(client);
}

it("offers only tools that read, unless it may write", async () => {
  const names = async ({ client }: Agent): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);
  expect(await names(reader)).not.toContain("deploy");
  expect(await names(writer)).toEqual(expect.arrayContaining([...(await names(reader)), "deploy", "dry_run"]));
  expect((await reader.call("deploy", { component: "noted.mjs" })).isError).toBe(true);
});

it("has types, format and pages as resources, and says how to begin", async () => {
  const { resources } = await reader.client.listResources();
  expect(resources.map(({ uri }) => uri)).toEqual(
    ["types", "component-schema", "components", "workflows"].map((name) => `headwater://docs/${name}`),
  );
  const { contents } = await reader.client.readResource({ uri: "headwater://docs/types" });
  expect(JSON.stringify(contents)).toContain("export declare function defineSource<");
  expect(reader.client.getInstructions()).toContain("problems");
});

it("validates a component of its working directory: mistakes have the lines around them", async () => {
  expect(await reader.call("validate", { file: "noted.mjs" })).toMatchObject({ isError: false });
  const { isError, text } = await reader.call("validate", { file: "broken.mjs" });
  expect({ isError, frame: text.includes("> 3 |") || text.includes("> 2 |") }).toEqual({ isError: true, frame: true });
});

it("deploys, updates, runs and replays, and reads what came of it", async () => {
  expect(await writer.call("deploy", { component: "noted.mjs" })).toMatchObject({
    isError: true,
    text: expect.stringMatching(/^invalid_props: [^]*\nhint: give props with prefix; the tool props lists them$/) as unknown,
  });
  await writer.json("deploy", { component: "noted.mjs", props: { prefix: "first" }, name: "noted" });
  await writer.json("update", { source: "noted", component: "noted.mjs", props: { prefix: "second" } });
  expect(await writer.json("run", { source: "noted", event: { n: 1 } })).toMatchObject({ status: "succeeded" });
  expect((await reader.call("runs", { source: "noted" })).text).toContain('"manual"');
  expect((await reader.call("logs", { source: "noted" })).text).toContain("second");
  expect((await reader.call("search", { query: "kind:log second" })).text).toContain('"source":"noted"');
  expect((await reader.call("events", { source: "noted" })).text).toContain('"event":{"n":1}');
  expect(await reader.json("describe", { thing: "noted" })).toMatchObject({ configured_props: { prefix: "second" } });
  expect((await writer.call("run", { source: "noted", last: true })).isError).toBe(false);
  expect((await writer.call("replay", { source: "noted" })).text).toContain('"events"');
});

it("runs a dry run, which stores nothing", async () => {
  await writer.json("deploy", { component: "noted.mjs", props: { prefix: "dry" }, name: "dry" });
  expect(await writer.json("dry_run", { of: "dry", event: { n: 7 } })).toMatchObject({ dry_run: true, emits: [{ event: { n: 7 } }] });
  expect(await reader.json("events", { source: "dry" })).toEqual({ items: [] });
});

it("survives lines that are not of the protocol, and ends with its input", async () => {
  const running = startHwProcess(headwater.world, ["mcp"]);
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list", arguments: "sources" } };
  running.child.stdin?.write(`not json\n{"jsonrpc":"2.0"}\n[]\n${JSON.stringify(call)}\n`);
  await running.untilPrinted(/"id":1/);
  running.child.stdin?.end();
  const { code, stdout } = await running.ended();
  expect([code, stdout]).toEqual([0, expect.stringContaining("Invalid tools/call request")]);
});

it("ends with an error after a message of more than 10 MiB", async () => {
  const running = startHwProcess(headwater.world, ["mcp"]);
  running.child.stdin?.write(`"${"x".repeat(11 * 1_024 * 1_024)}"\n`);
  const { code, stderr } = await running.ended();
  expect([code, stderr]).toEqual([1, expect.stringContaining("hw: the connection is closed: ReadBuffer exceeded maximum size")]);
});
