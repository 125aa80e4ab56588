import { chmod, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createBuilder, type Builder } from "../../builder/builder.ts";
import { installPackages } from "../../builder/npm/install-packages.ts";
import type { Addresses } from "../../builder/ports.ts";
import type { Build } from "../../domain/component/definition.ts";
import { startRegistry, type FakePackage } from "../integration/builder/registry.ts";
import { failure } from "../integration/builder/support.ts";
import { fixturePackage } from "../support/npm-fixtures.ts";
import { actionOf, returned, stepRequest } from "./actions/action-support.ts";
import { startServers } from "./net/servers.ts";
import { emitted, ended, errorOf, requestFor, shareSandbox, type SandboxFixture } from "./sandbox-fixture.ts";

let fixture: SandboxFixture;
beforeAll(async () => {
  fixture = await shareSandbox();
});
afterAll(() => fixture.stop());

const noAddresses: Addresses = {
  read: async () => {
    throw new Error("an address of npm is not fetched");
  },
};

/** A builder whose registry has these packages. */
async function connectors(...packages: readonly FakePackage[]) {
  const { npm, requests } = await startRegistry(packages);
  const directory = await mkdtemp(join(fixture.directory, "connectors-"));
  await chmod(directory, 0o755);
  const builder: Builder = await createBuilder({
    directory,
    inspector: fixture.sandbox,
    bundles: { keep: async () => true, store: async () => {} },
    performInstall: installPackages,
    npm,
  });
  onTestFinished(async () => {
    await builder.stop();
    await rm(directory, { recursive: true, force: true });
  });
  return {
    builder,
    requests,
    collect: (address: string) => builder.collect(address, noAddresses),
    build: async (address: string) => builder.build(await builder.collect(address, noAddresses)),
    list: (name: string, range: string | null = null) => builder.listPackage(name, range),
    bundleOf: ({ bundle: hash, needsNode }: Build) => ({ hash, path: join(directory, "bundles", `${hash}.js`), needsNode }),
  };
}

const piece = (body: string, name = "@acme/piece-odd"): FakePackage => ({ name, files: { "index.js": body } });

describe("a package of component files", () => {
  test("lists its components by their files, without its other modules, and without evaluating them", async () => {
    const { list } = await connectors(await fixturePackage("tasks", { scripts: { install: "exit 1", postinstall: "exit 1" } }));
    expect(await list("@acme/tasks")).toMatchObject({
      version: "1.2.0",
      integrity: expect.stringMatching(/^sha512-/),
      kind: "components",
      components: [
        { address: "actions/add-task/add-task.mjs", type: "action", name: "Add Task", key: "tasks-add-task", version: "0.1.0" },
        { address: "sources/new-task/new-task.mjs", type: "source", name: "New Task", key: "tasks-new-task", version: "0.0.3" },
      ],
    });
  });

  test("gives a component by its path, with the package's own modules, pinned by version and hash", async () => {
    const { build, collect, bundleOf } = await connectors(await fixturePackage("tasks"));
    const { code } = await collect("npm:@acme/tasks@^1/sources/new-task/new-task.mjs");
    expect(code).toMatch(/^\/\/ npm:@acme\/tasks@1\.2\.0 sha512-\S+\n/);
    const built = await build("npm:@acme/tasks@^1/sources/new-task");
    expect(built.definition).toMatchObject({ name: "New Task", key: "tasks-new-task", dedupe: "unique" });
    expect(built.lockfile).toContain('"integrity"');
    const run = await fixture.sandbox.execute(requestFor(bundleOf(built), { event: JSON.stringify({ body: { id: 7, title: " tea " } }) }));
    expect(emitted(run)).toEqual([{ id: 7, title: " tea " }]);
  });

  test("names near paths where there is no such file, and what to name where no file is named", async () => {
    const { collect } = await connectors(await fixturePackage("tasks"));
    expect(await failure(collect("npm:@acme/tasks/sources/new-tsk.mjs"))).toMatchObject({
      code: "component_not_found",
      message: expect.stringContaining("did you mean sources/new-task/new-task.mjs?"),
    });
    expect(await failure(collect("npm:@acme/tasks"))).toMatchObject({
      code: "not_a_component",
      message: expect.stringContaining("has 2 components: name one of them, such as npm:@acme/tasks/actions/add-task/add-task.mjs"),
    });
  });
});

describe("what the registry does not have", () => {
  test("is named, with the latest version", async () => {
    const { collect } = await connectors(await fixturePackage("tasks"), { name: "plain", files: { "index.js": "module.exports = 1" } });
    expect(await failure(collect("npm:absent"))).toMatchObject({ code: "package_not_found", message: expect.stringContaining("absent") });
    expect(await failure(collect("npm:@acme/tasks@9/x.mjs"))).toMatchObject({
      code: "version_not_found",
      message: expect.stringContaining("the latest is 1.2.0"),
    });
    expect(await failure(collect("npm:plain"))).toMatchObject({ code: "not_a_component", message: expect.stringContaining("plain@1.0.0") });
    expect(await failure(collect("npm:plain#action/x"))).toMatchObject({ code: "not_a_component" });
  });

  test("a registry that exchanges a version is noticed", async () => {
    const { builder, collect } = await connectors(await fixturePackage("tasks"));
    const { code } = await collect("npm:@acme/tasks@1.2.0/sources/new-task/new-task.mjs");
    const other = code.replace(/sha512-\S+/, `sha512-${"A".repeat(86)}==`);
    expect(await failure(builder.build({ code: other }))).toMatchObject({ code: "integrity_mismatch" });
  });

  test("a version with two hashes, which no build could compare with its pin, is refused", async () => {
    const { collect, list } = await connectors({ ...(await fixturePackage("tasks")), integrity: `… sha512-${"A".repeat(86)}==` });
    for (const refused of [collect("npm:@acme/tasks@1.2.0/sources/new-task/new-task.mjs"), list("@acme/tasks")])
      expect(await failure(refused)).toMatchObject({ code: "package_refused", message: expect.stringContaining("is not one hash") });
  });

  test("a deprecated version is a warning of its listing and of the component", async () => {
    const deprecated = { ...(await fixturePackage("tasks")), deprecated: "use @acme/chores" };
    const { build, list } = await connectors(deprecated);
    expect(await list("@acme/tasks")).toMatchObject({ deprecated: "use @acme/chores" });
    const built = await build("npm:@acme/tasks/actions/add-task/add-task.mjs");
    expect(built.warnings).toContainEqual(
      expect.objectContaining({ code: "package_deprecated", message: expect.stringContaining("use @acme/chores") }),
    );
  });
});

describe("a piece", () => {
  test("is recognized by what it exports, and lists its actions and triggers", async () => {
    const { list } = await connectors(await fixturePackage("piece-ledger"));
    expect(await list("@acme/piece-ledger")).toMatchObject({
      kind: "piece",
      piece: {
        displayName: "Ledger",
        app: "ledger",
        auth: [{ kind: "oauth2", tokenUrl: "https://ledger.example/token", scopes: ["entries:read", "entries:write"] }],
      },
      components: [
        { address: "#action/add_entry", type: "action", name: "Add Entry" },
        { address: "#trigger/new_entry", type: "source", strategy: "polling" },
        { address: "#trigger/entry_posted", type: "source", strategy: "webhook" },
        {
          address: "#trigger/app_event",
          type: "source",
          strategy: "app_webhook",
          problem: expect.stringContaining("register the endpoint"),
        },
      ],
    });
  });

  test("maps the props of an action", async () => {
    const { build } = await connectors(await fixturePackage("piece-ledger"));
    const { definition } = await build("npm:@acme/piece-ledger#action/add_entry");
    expect(definition).toMatchObject({
      name: "Add Entry",
      key: "ledger-add_entry",
      type: "action",
      version: "2.1.0",
      hasAdditionalProps: true,
    });
    expect(definition.props).toMatchObject([
      { name: "ledger", type: "app", app: "ledger" },
      { name: "note", type: "alert", content: "Amounts are in cents." },
      { name: "server", type: "string", label: "Server" },
      { name: "book", remoteOptions: true, reloadProps: true },
      {
        name: "direction",
        type: "string",
        options: [
          { label: "In", value: "in" },
          { label: "Out", value: "out" },
        ],
      },
      { name: "amount", type: "any" },
      { name: "tags", type: "string[]", optional: true },
      { name: "extra", type: "any", optional: true },
      { name: "receipt", type: "string", optional: true },
      { name: "details", type: "object", optional: true },
    ]);
  });

  test("maps its triggers to a timer and to an endpoint", async () => {
    const { build } = await connectors(await fixturePackage("piece-ledger"));
    const polling = (await build("npm:@acme/piece-ledger#trigger/new_entry")).definition;
    expect(polling).toMatchObject({ type: "source", dedupe: "unique", hooks: ["activate"] });
    expect(polling.props.map(({ name, type }) => [name, type])).toEqual([
      ["ledger", "app"],
      ["server", "string"],
      ["db", "$.service.db"],
      ["timer", "$.interface.timer"],
    ]);
    const webhook = (await build("npm:@acme/piece-ledger#trigger/entry_posted")).definition;
    expect(webhook.hooks).toEqual(["activate", "deactivate"]);
    expect(webhook.props.at(-1)).toMatchObject({ name: "http", type: "$.interface.http", customResponse: true });
  });

  test("names near actions where there is none of that name", async () => {
    const { collect } = await connectors(await fixturePackage("piece-ledger"));
    expect(await failure(collect("npm:@acme/piece-ledger#action/add_entri"))).toMatchObject({
      code: "component_not_found",
      message: expect.stringContaining("did you mean add_entry?"),
    });
  });

  test("answers requests of an app that its users share, and emits those that are for it", async () => {
    const { build, bundleOf } = await connectors(await fixturePackage("piece-ledger"));
    const bundle = bundleOf(await build("npm:@acme/piece-ledger#trigger/app_event"));
    const listeners = { $listeners: JSON.stringify({ events: ["entry"], identifierValue: "team-1" }) };
    const send = (body: unknown, props = {}, headers = {}) => {
      const event = JSON.stringify({ method: "POST", headers, query: {}, body });
      return fixture.sandbox.execute(requestFor(bundle, { event, props: JSON.stringify(props), db: { db: listeners } }));
    };
    expect(emitted(await send({ type: "entry", team: "team-1", entry: { id: 1 } }))).toEqual([{ id: 1 }]);
    expect(emitted(await send({ type: "entry", team: "team-2", entry: { id: 1 } }))).toEqual([]);
    expect(emitted(await send({ type: "other", team: "team-1", entry: { id: 1 } }))).toEqual([]);
    const secret = { webhook_secret: "hush" };
    expect(emitted(await send({ type: "entry", team: "team-1", entry: { id: 1 } }, secret))).toEqual([]);
    expect(emitted(await send({ type: "entry", team: "team-1", entry: { id: 1 } }, secret, { "x-secret": "hush" }))).toEqual([{ id: 1 }]);
  });
});

describe("what a piece gets", () => {
  const odd = (members: string): FakePackage =>
    piece(`const oauth = { type: "OAUTH2", authUrl: "https://odd.example/a", tokenUrl: "https://odd.example/t", scope: [], required: true,
        props: { zone: { type: "SHORT_TEXT", displayName: "Zone", required: true, defaultValue: "north" } } };
      exports.odd = { displayName: "Odd", auth: oauth, actions: () => ({}), triggers: () => ({}), ${members} };`);

  test("a file has its name, its extension and its bytes, however it is given", async () => {
    const { build, bundleOf } = await connectors(
      odd(`actions: () => ({ act: { displayName: "Act", props: { file: { type: "FILE", displayName: "File", required: true } },
        run: async ({ propsValue: { file }, auth }) => ({ name: file.filename, extension: file.extension, text: file.data.toString(), auth: auth.data, zone: auth.props.zone }) } })`),
    );
    const bundle = bundleOf(await build("npm:@acme/piece-odd#action/act"));
    const account = { odd: { $auth: { oauth_access_token: "t", team_id: "T1", region: '["eu"]' } } };
    const act = (file: string) => fixture.sandbox.execute(requestFor(bundle, stepRequest({ props: { ...account, file } })));
    const auth = expect.objectContaining({ oauth_access_token: "t", team_id: "T1", team: { id: "T1" }, region: ["eu"] });
    const files = [
      ["data:text/plain;base64,aGk=", "file.txt", "txt"],
      ["data:image/png;name=cup.png;base64,aGk=", "cup.png", "png"],
      ["data:text/csv;name=..%2Fguests;charset=utf-8,hi", "guests.csv", "csv"],
      ["data:,hi", "file.txt", "txt"],
      ["aGk=", "file.bin", "bin"],
    ] as const;
    for (const [given, name, extension] of files)
      expect(returned(await act(given)), given).toEqual({ name, extension, text: "hi", auth, zone: "north" });
    expect(errorOf(await act("not a file!"))).toMatchObject({ message: expect.stringContaining("is none of them") });
    expect(errorOf(await act("data:text/plain"))).toMatchObject({ message: expect.stringContaining("has no comma") });
  });

  test("a trigger that sets its times runs at the first tick after each, and its equal events are different ones", async () => {
    const { build, bundleOf } = await connectors(
      odd(`triggers: () => ({ tick: { displayName: "Tick", type: "POLLING", props: { cron: { type: "SHORT_TEXT", displayName: "Cron", required: true } },
        async onEnable({ setSchedule, propsValue: { cron } }) { setSchedule({ cronExpression: cron, timezone: "Europe/Oslo" }); },
        async run() { return [{ tick: true }]; } } })`),
    );
    const bundle = bundleOf(await build("npm:@acme/piece-odd#trigger/tick"));
    const run = (entry: "activate" | "run", cron: string, db: Record<string, string>, event: object | null) =>
      fixture.sandbox.execute(requestFor(bundle, { entry, event: JSON.stringify(event), props: JSON.stringify({ cron }), db: { db } }));
    const timer = { timestamp: 1, interval_seconds: 300 };
    const every = { $schedule: JSON.stringify({ cronExpression: "* * * * *", timezone: "Europe/Oslo", seen: 0 }) };
    const [first, second] = [await run("run", "* * * * *", every, timer), await run("run", "* * * * *", every, timer)];
    expect([emitted(first), emitted(second)]).toEqual([[{ tick: true }], [{ tick: true }]]);
    expect(ended(first).emits[0]?.id).not.toBe(ended(second).emits[0]?.id);
    const never = { $schedule: JSON.stringify({ cronExpression: "0 0 30 2 *", timezone: "Europe/Oslo", seen: 0 }) };
    expect(emitted(await run("run", "0 0 30 2 *", never, timer))).toEqual([]);
    expect(emitted(await run("run", "0 0 30 2 *", never, null))).toEqual([{ tick: true }]);
    expect(errorOf(await run("activate", "every day", {}, null))).toMatchObject({ message: expect.stringContaining('"every day"') });
  });
});

describe("waits of an action", () => {
  const runWaiting = async (run: string) => {
    const { build, bundleOf } = await connectors(
      piece(
        `exports.odd = { displayName: "Odd", actions: () => ({ act: { displayName: "Act", props: {}, run: ${run} } }), triggers: () => ({}) };`,
      ),
    );
    return fixture.sandbox.execute(requestFor(bundleOf(await build("npm:@acme/piece-odd#action/act")), stepRequest({})));
  };

  test("a pause until a time, or for a request, runs the step again", async () => {
    const until = await runWaiting(
      'async ({ run }) => run.pause({ pauseMetadata: { type: "DELAY", resumeDateTime: "2001-01-01T00:00:00Z" } })',
    );
    expect(actionOf(until).flow).toMatchObject({ kind: "rerun", ms: 0 });
    const request = await runWaiting('async ({ run }) => run.pause({ pauseMetadata: { type: "WEBHOOK" } })');
    expect(actionOf(request).flow).toMatchObject({ kind: "rerun", ms: 86_400_000 });
  });

  test("a pause until what is no date fails", async () => {
    const run = await runWaiting('async ({ run }) => run.pause({ pauseMetadata: { type: "DELAY", resumeDateTime: "soon" } })');
    expect(errorOf(run)).toMatchObject({ message: 'this action waits until "soon", which is no date' });
  });

  test("a resume URL before the wait fails, and says what to do", async () => {
    const run = await runWaiting("async ({ generateResumeUrl }) => generateResumeUrl({ queryParams: { a: 1 } })");
    expect(errorOf(run)).toMatchObject({ message: expect.stringContaining("$.flow.suspend().resume_url") });
  });
});

describe("a hostile piece", () => {
  const action = (run: string, head = ""): FakePackage =>
    piece(`${head}
      exports.odd = { displayName: "Odd", actions: () => ({ act: { displayName: "Act", props: {}, run: ${run} } }), triggers: () => ({}) };`);
  const runAct = async (found: FakePackage) => {
    const { build, bundleOf } = await connectors(found);
    const bundle = bundleOf(await build("npm:@acme/piece-odd#action/act"));
    return fixture.sandbox.execute(requestFor(bundle, stepRequest({})));
  };

  test("fails alone where its code throws when it is loaded, and the listing says why", async () => {
    const { list, collect } = await connectors(piece('throw new Error("needs a moon")'));
    expect(await list("@acme/piece-odd")).toMatchObject({ kind: "none", components: [], problem: expect.stringContaining("needs a moon") });
    expect(await failure(collect("npm:@acme/piece-odd#action/x"))).toMatchObject({
      code: "not_a_component",
      message: expect.stringContaining("needs a moon"),
    });
  });

  test("cannot make the builder believe what is no listing", async () => {
    const { list } = await connectors(
      piece(`Object.prototype.polluted = "yes"; Array.prototype.map = () => [{ name: "../x", label: 1 }];
        exports.odd = { displayName: "x".repeat(1e6), actions: () => ({ "../up": { run() {} }, ok: { run() {} } }), triggers: () => ({}) };`),
    );
    const listing = await list("@acme/piece-odd");
    expect(listing.components.every(({ address }) => /^#(action|trigger)\/[\w.-]+$/.test(address))).toBe(true);
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
  });

  test("gets neither variables nor files of the host", async () => {
    const found = action(`async (context) => {
      const fs = require("node:fs");
      const tried = (work) => { try { return work(); } catch (error) { return "refused"; } };
      process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
      return {
        env: Object.keys(process.env).filter((name) => name !== "PD_COMPONENT" && name !== "NODE_TLS_REJECT_UNAUTHORIZED"),
        read: tried(() => fs.readFileSync("/etc/passwd", "utf8")),
        write: tried(() => fs.writeFileSync("/etc/odd", "x")),
        path: await context.files.write({ fileName: "../../etc/odd.txt", data: Buffer.from("x") }),
      };
    }`);
    const value = returned(await runAct(found)) as Record<string, unknown>; // As the action returns it.
    expect(value).toMatchObject({ env: [], read: "refused", write: "refused" });
    expect(value["path"]).toMatch(/^\/tmp\/[\w-]+-odd\.txt$/);
  });

  test("cannot turn the checks of TLS off by a variable", async () => {
    const servers = await startServers();
    onTestFinished(() => servers.close());
    const found = action(`async () => {
      process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
      const https = require("node:https");
      const url = ${JSON.stringify(servers.https)} + "/echo";
      const fetched = await fetch(url).then(() => "trusted", () => "refused");
      const got = await new Promise((resolve) => https.get(url, () => resolve("trusted")).on("error", (error) => resolve(error.code)));
      return { fetched, got };
    }`);
    expect(returned(await runAct(found))).toEqual({ fetched: "refused", got: "DEPTH_ZERO_SELF_SIGNED_CERT" });
  });

  test("depends on nothing outside of the registry", async () => {
    for (const range of ["git+ssh://git@example.com/x.git", "https://example.com/x.tgz", "file:../x", "github:owner/repo"]) {
      const { list } = await connectors({ ...piece("exports.x = 1"), dependencies: { other: range } });
      expect(await failure(list("@acme/piece-odd")), range).toMatchObject({ code: "package_refused" });
    }
  });

  test("a computation with WebAssembly fails where it is used, and not when the piece is loaded", async () => {
    const found = action(
      "async () => module_.exports.encode(1)",
      "const module_ = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array()), {});",
    );
    expect(errorOf(await runAct(found))).toMatchObject({ message: expect.stringContaining("WebAssembly is not available") });
  });
});
