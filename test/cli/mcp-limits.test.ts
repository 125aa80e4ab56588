import { mkdir, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ApiError } from "../../client/errors.ts";
import { Failure, usageFailure } from "../../cli/failure.ts";
import { toolHintOf } from "../../cli/mcp/tools/hints.ts";
import { create, createWebhook, deploy } from "../support/system/sources.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { withInstallation } from "./installation.ts";
import { connectAgent, type Agent } from "./mcp-client.ts";

/** What tools of `hw mcp` must not do, whatever an agent asks for. */
const headwater = withInstallation();
const secret = "TOKEN=do-not-show";
let outside: TemporaryDirectory;
let reader: Agent;
let writer: Agent;

interface Props {
  readonly configurable_props: readonly { readonly name: string }[];
  readonly configured_props?: object;
}

const component = (imports: string): string => `${imports}\nexport default { name: "Small", version: "1", run() {} };\n`;
const reloading = `{ name: "Reloading", version: "1",
  props: { table: { type: "string", reloadProps: true, async options() { return ["orders"]; } }, key: { type: "string", secret: true } },
  async additionalProps() { return this.table === undefined ? {} : { ["of_" + this.table]: { type: "string", optional: true } }; },
  run() {} }`;

const files: Readonly<Record<string, string>> = {
  ".env": `${secret}\n`,
  ".secrets.json": `{"value": "${secret}"}`,
  ".config/token.json": `{"value": "${secret}"}`,
  ".hidden.mjs": component(""),
  "notes.txt": secret,
  "nameless.yaml": `steps:\n  - { name: a, value: "${secret}" }\n`,
  ".hidden.yaml": "name: hidden\nsteps: []\n",
  "env.mjs": component('import "./.env";'),
  "dot-json.mjs": component('import token from "./.secrets.json"; token;'),
  "dot-folder.mjs": component('import token from "./.config/token.json"; token;'),
  "text.mjs": component('import "./notes.txt";'),
  "workflow.mjs": component('import "./nameless.yaml";'),
  "absent.mjs": component('import token from "../there-is-none.json"; token;'),
  "link-out.mjs": component('import token from "./out.json"; token;'),
  "link-env.mjs": component('import token from "./env.json"; token;'),
  "large.json": JSON.stringify("x".repeat(1_100_000)),
  "large.mjs": component('import text from "./large.json"; text;'),
  "part.json": JSON.stringify("x".repeat(900_000)),
  "part.mjs": component('import text from "./part.json"; text;'),
  "parts.yaml": `name: parts\nsteps:\n${[1, 2, 3, 4, 5].map((n) => `  - { name: s${n}, file: part.mjs }\n`).join("")}`,
  "step.yaml": "name: step\nsteps:\n  - { name: a, parallel: [[{ name: b, file: .env }]] }\n",
  "linked/needs.mjs": component('import "left-pad";'),
  "folder.mjs/a.txt": "",
  "data.json": '{"n": 1}',
  "good.mjs": component('import data from "./data.json"; data;'),
};

beforeAll(async () => {
  const { directory } = headwater.world;
  outside = await temporaryDirectory("outside");
  await writeFile(join(outside.path, "outside.json"), `{"value": "${secret}"}`);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), text);
  }
  await writeFile(join(directory, "above.mjs"), component(`import token from "../${basename(outside.path)}/outside.json"; token;`));
  await symlink(join(outside.path, "outside.json"), join(directory, "out.json"));
  await symlink(join(outside.path, "outside.json"), join(directory, "linked/package.json"));
  await symlink(join(directory, ".env"), join(directory, "env.json"));
  await symlink(join(directory, ".env"), join(directory, "env-link.mjs"));
  reader = await connectAgent(headwater, { mayWrite: false });
  writer = await connectAgent(headwater, { mayWrite: true });
});
afterAll(async () => {
  await reader.client.close();
  await writer.client.close();
  await outside.remove();
});

const namesIn = ({ configurable_props: props }: Props): string[] => props.map(({ name }) => name);

describe("hw mcp without --write", () => {
  let source = "";
  let saved = "";
  let workflow = "";
  beforeAll(async () => {
    await writeFile(join(headwater.world.directory, "reloading.mjs"), `export default ${reloading};`);
    const code = `export default ${reloading};`;
    source = (await deploy(headwater, code, { table: "orders", key: secret }, { name: "reloading" })).id;
    saved = (await create(headwater, "/components", { component_code: code })).id;
    const action = `export default ${reloading.replace("name:", 'type: "action", name:').replace("run() {}", "async run() {}")};`;
    const step = { name: "inner", component_code: action, props: { table: "orders", key: "k" } };
    const steps = [{ name: "split", parallel: [[step], [{ ...step, name: "other" }]] }];
    workflow = (await create(headwater, "/workflows", { name: "reloading steps", steps })).id;
  });

  it("lists stored props of a file, component, source and step, and runs no code for them", async () => {
    const before = reader.requests.length;
    expect(namesIn(await reader.json<Props>("props", { of: "reloading.mjs" }))).toEqual(["table", "key"]);
    expect(namesIn(await reader.json<Props>("props", { of: saved }))).toEqual(["table", "key"]);
    const ofSource = await reader.json<Props>("props", { of: "reloading" });
    expect([namesIn(ofSource), ofSource.configured_props]).toEqual([["table", "key", "of_orders"], { table: "orders" }]);
    expect(namesIn(await reader.json<Props>("props", { of: `${workflow}/inner` }))).toEqual(expect.arrayContaining(["table", "key"]));
    expect((await reader.call("props", { of: `${workflow}/none` })).text).toMatch(/^not_found: workflow p_\w+ has no step "none"/);
    const sent = reader.requests.slice(before).filter((request) => !request.startsWith("GET "));
    expect(sent).toEqual([expect.stringMatching(/^POST \/v1\/components\?dry_run=true/)]);
  });

  it("lists the props of a source from the registry", async () => {
    const body = { key: "headwater-schedule", name: "registered", configured_props: { timer: { intervalSeconds: 86_400 } } };
    expect((await headwater.call("POST", "/sources", body)).status).toBe(200);
    expect(namesIn(await reader.json<Props>("props", { of: "registered" }))).toContain("timer");
  });

  it("refuses to compute props and options, before any request", async () => {
    const before = reader.requests.length;
    expect(await reader.call("props", { of: source, props: { table: "items" } })).toEqual({
      isError: true,
      text: expect.stringMatching(/^invalid_arguments: the argument props needs --write: /) as unknown,
    });
    expect((await reader.call("options", { of: source, prop: "table" })).text).toMatch(/the tool options needs --write/);
    expect(reader.requests.slice(before)).toEqual([]);
  });

  it("leaves both to a server with --write", async () => {
    const withItems = await writer.json<Props>("props", { of: source, props: { table: "items" } });
    expect(namesIn(withItems)).toEqual(["table", "key", "of_items"]);
    expect(await writer.json("options", { of: source, prop: "table" })).toMatchObject({ options: ["orders"] });
    expect((await writer.call("options", { of: "reloading.mjs", prop: "table" })).text).toMatch(
      /is a file: options are those of what is saved/,
    );
    expect((await writer.call("props", { of: "reloading.mjs", props: {} })).text).toMatch(/props are for what is saved/);
  });
});

describe("files that tools of hw mcp refuse to send", () => {
  it.each([
    ["a dotfile", "env.mjs", /env\.mjs imports "\.\/\.env", and .*\.env is not sent: a name in its path begins with a dot/],
    ["a dotfile in JSON", "dot-json.mjs", /\.secrets\.json is not sent: a name in its path/],
    ["a file in a dot folder", "dot-folder.mjs", /token\.json is not sent: a name in its path/],
    ["a dotfile of code", ".hidden.mjs", /\.hidden\.mjs is not sent: a name in its path/],
    ["other extensions", "text.mjs", /notes\.txt is not sent: its name must end in one of \.ts /],
    ["a workflow that code imports", "workflow.mjs", /nameless\.yaml is not sent: its name must end in one of \.ts /],
    ["above the directory", "above.mjs", /imports "\.\.\/.*outside\.json", and .* is outside /],
    ["above the directory and absent", "absent.mjs", /imports "\.\.\/there-is-none\.json", and .* is outside /],
    ["behind a link that leads out", "link-out.mjs", /out\.json is outside .*: it is a symbolic link/],
    ["a package.json that leads out", "linked/needs.mjs", /package\.json is outside .*: it is a symbolic link/],
    ["behind a link to a dotfile", "link-env.mjs", /env\.json is not sent: a name in its path/],
    ["an entry that is a link to a dotfile", "env-link.mjs", /env-link\.mjs is not sent: a name in its path/],
    ["of more than 1 MiB", "large.mjs", /large\.json has 1100002 bytes: at most 1048576 are sent/],
    ["of more than 4 MiB in all", "parts.yaml", /part\.json is not sent: all files have more than 4194304 bytes/],
    ["a dotfile that a step names", "step.yaml", /\.env is not sent|\.env".* is not sent/],
    ["a folder", "folder.mjs", /folder\.mjs is no file/],
    ["a path with a null character", "a\0.mjs", /there is no file /],
    ["a workflow that is a dotfile", ".hidden.yaml", /^invalid_arguments: \.hidden\.yaml is not sent: a name in its path/],
  ])("%s: the error names it without its content, and nothing is requested", async (_what, file, error) => {
    const before = reader.requests.length;
    const { isError, text } = await reader.call("validate", { file });
    expect([isError, text]).toEqual([true, expect.stringMatching(error)]);
    expect(text).not.toContain(secret);
    expect(text).not.toContain("--root");
    expect(reader.requests.slice(before)).toEqual([]);
  });

  it("leave those that are code, with JSON", async () => {
    expect(await reader.json("validate", { file: "good.mjs" })).toMatchObject({ valid: true, files: 2 });
  });
});

describe("what is named to be run or deployed", () => {
  it.each([
    ["absolute and outside", "/etc/hosts", /\/etc\/hosts is outside /],
    ["outside and absent", "../there-is-none", /there-is-none is outside /],
    ["a workflow", "nameless.yaml", /nameless\.yaml is a workflow, not a component/],
    ["text", "notes.txt", /notes\.txt is no component: its name must end in \.ts/],
    ["a dotfile", ".env", /\.env is no component/],
  ])("%s: it is refused, and nothing is requested", async (_what, of, error) => {
    const before = writer.requests.length;
    const { isError, text } = await writer.call("dry_run", { of });
    expect([isError, text]).toEqual([true, expect.stringMatching(error)]);
    expect(writer.requests.slice(before)).toEqual([]);
    if (of !== "nameless.yaml") expect((await writer.call("deploy", { component: of })).text).toMatch(error);
  });
});

describe("the id of another kind", () => {
  it("is refused before a request, with the error of a name that no such thing has", async () => {
    const webhook = await createWebhook(headwater, "http://127.0.0.1:9/");
    const { id: source } = await deploy(
      headwater,
      `export default ${reloading.replace("Reloading", "Kinds")};`,
      { table: "orders", key: "k" },
      { name: "kinds" },
    );
    const before = writer.requests.length;
    const calls = [
      ["pause", { thing: "sc_0123456789ab" }, "source or workflow or webhook", "component"],
      ["pause", { thing: "component/kinds" }, "source or workflow or webhook", "component"],
      ["resume", { thing: "apn_0123456789ab" }, "source or workflow or webhook", "account"],
      ["deliveries", { of: source }, "webhook or workflow", "source"],
      ["dead_letters", { of: "source/kinds" }, "webhook or workflow", "source"],
      ["metrics", { of: "sc_0123456789ab" }, "source or workflow or webhook", "component"],
      ["events", { source: webhook }, "source or workflow", "webhook"],
      ["run", { source: `webhook/${webhook}` }, "source or workflow", "webhook"],
    ] as const;
    for (const [tool, args, expected, found] of calls) {
      const [given] = Object.values(args);
      expect(await writer.call(tool, args)).toEqual({
        isError: true,
        text: `not_found: there is no ${expected} "${given}"\nhint: it names a ${found}`,
      });
    }
    expect(writer.requests.slice(before)).toEqual([]);
  });
});

describe("hints of tools", () => {
  const api = (code: string, details?: unknown): Error => new ApiError("m", { status: 422, code, details, requestId: undefined });
  it.each([
    [
      "of missing props",
      { cause: api("invalid_props", [{ prop: "city" }]), hint: "give --prop city=…" },
      "give props with city; the tool props lists them",
    ],
    [
      "of unknown props",
      { cause: api("invalid_props", [{ prop: "x", code: "unknown_prop" }]) },
      "the tool props lists the props of a file, component or source",
    ],
    ["of a missing event", { cause: api("event_missing"), hint: "give --event, --event-id or --last" }, "give event, or last: true"],
    ["of files", { hint: "--root FOLDER sends files below another folder: name one that holds all" }, undefined],
    ["with a whole command", { hint: "start the server with `hw mcp --write`" }, "start the server with `hw mcp --write`"],
    ["without flags", { hint: "use more of the id" }, "use more of the id"],
  ])("name arguments and no flags: %s", (_what, options, expected) => {
    expect(toolHintOf(new Failure("m", options))).toBe(expected);
  });

  it("are absent where an error has none", () => {
    expect(toolHintOf(usageFailure("m"))).toBeUndefined();
  });
});
