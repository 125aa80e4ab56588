import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { inherited, program } from "./hw.ts";
import { withInstallation } from "./installation.ts";

const headwater = withInstallation();
let reader: Client;
let writer: Client;

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
  await reader.close();
  await writer.close();
});

async function connect(...flags: readonly string[]): Promise<Client> {
  const { directory, env } = headwater.world;
  const client = new Client({ name: "test", version: "1" });
  const options = { command: process.execPath, args: [program, "mcp", ...flags], cwd: directory, env: { ...inherited(), ...env } };
  await client.connect(new StdioClientTransport(options));
  return client;
}

async function call(client: Client, name: string, args: Readonly<Record<string, unknown>>): Promise<{ isError: boolean; text: string }> {
  const { isError, content } = await client.callTool({ name, arguments: args });
  const [first] = content as readonly { text: string }[]; // Each tool returns one text.
  return { isError: isError === true, text: first?.text ?? "" };
}

it("offers only tools that read, unless it may write", async () => {
  const names = async (client: Client): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);
  expect(await names(reader)).toEqual(["list", "describe", "events", "logs", "runs", "search", "validate"]);
  expect(await names(writer)).toEqual([
    "list",
    "describe",
    "events",
    "logs",
    "runs",
    "search",
    "validate",
    "deploy",
    "update",
    "run",
    "replay",
  ]);
  expect((await call(reader, "deploy", { component: "noted.mjs" })).isError).toBe(true);
});

it("has types, format and pages as resources", async () => {
  const { resources } = await reader.listResources();
  expect(resources.map(({ uri }) => uri)).toEqual(
    ["types", "component-schema", "components", "workflows"].map((name) => `headwater://docs/${name}`),
  );
  const { contents } = await reader.readResource({ uri: "headwater://docs/types" });
  expect(JSON.stringify(contents)).toContain("export declare function defineSource<");
});

it("validates a component: mistakes have the lines around them", async () => {
  expect(await call(reader, "validate", { file: "noted.mjs" })).toMatchObject({ isError: false });
  const { isError, text } = await call(reader, "validate", { file: "broken.mjs" });
  expect({ isError, frame: text.includes("> 3 |") || text.includes("> 2 |") }).toEqual({ isError: true, frame: true });
});

it("deploys, updates, runs and replays, and reads what came of it", async () => {
  expect(await call(writer, "deploy", { component: "noted.mjs" })).toMatchObject({
    isError: true,
    text: expect.stringContaining("--prop prefix=") as unknown,
  });
  const deployed = await call(writer, "deploy", { component: "noted.mjs", props: { prefix: "first" }, name: "noted" });
  expect(deployed.isError).toBe(false);
  expect((await call(writer, "update", { source: "noted", component: "noted.mjs", props: { prefix: "second" } })).isError).toBe(false);
  const run = await call(writer, "run", { source: "noted", event: { n: 1 } });
  expect(run.text).toContain('"succeeded"');
  expect((await call(reader, "runs", { source: "noted" })).text).toContain('"manual"');
  expect((await call(reader, "logs", { source: "noted" })).text).toContain("second");
  expect((await call(reader, "search", { query: "kind:log second" })).text).toContain('"source_name"');
  expect((await call(reader, "events", { source: "noted" })).text).toContain('"n": 1');
  expect((await call(reader, "list", { kind: "sources" })).text).toContain('"noted"');
  expect((await call(reader, "describe", { thing: "noted" })).text).toContain('"prefix": "second"');
  expect((await call(writer, "run", { source: "noted", last: true })).isError).toBe(false);
  expect((await call(writer, "replay", { source: "noted" })).text).toContain('"events"');
  expect(await call(reader, "describe", { thing: "nothing" })).toMatchObject({ isError: true });
});

it("refuses unknown arguments with the nearest name, and runs nothing", async () => {
  const { tools } = await writer.listTools();
  for (const { name, inputSchema } of tools) expect({ name, inputSchema }).toMatchObject({ inputSchema: { additionalProperties: false } });
  await call(writer, "deploy", { component: "noted.mjs", props: { prefix: "strict" }, name: "strict" });
  expect(await call(writer, "run", { source: "strict", dryRun: true })).toMatchObject({
    isError: true,
    text: expect.stringContaining('run has no argument "dryRun": did you mean dry_run?') as unknown,
  });
  expect(await call(reader, "events", { source: "strict", page: 2 })).toMatchObject({
    isError: true,
    text: expect.stringContaining('events has no argument "page": its arguments are source, limit, channel') as unknown,
  });
  expect((await call(reader, "events", { source: "strict" })).text).toContain('"data": []');
});

it("runs without storing, and refuses arguments that exclude each other", async () => {
  await call(writer, "deploy", { component: "noted.mjs", props: { prefix: "dry" }, name: "dry" });
  expect((await call(writer, "run", { source: "dry", event: { n: 7 }, dry_run: true })).text).toContain('"dry_run": true');
  expect((await call(reader, "events", { source: "dry" })).text).toContain('"data": []');
  expect((await call(writer, "run", { source: "dry", event: { n: 7 }, last: true })).isError).toBe(true);
});
