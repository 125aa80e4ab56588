import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { hw } from "../cli/hw.ts";
import { startRegistry, type FakePackage } from "../integration/builder/registry.ts";
import { startLedger, type LedgerService } from "../support/ledger-service.ts";
import { fixturePackage } from "../support/npm-fixtures.ts";
import { startHeadwater, type Headwater } from "../support/system/headwater.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { until } from "../support/until.ts";

interface Component {
  readonly id: string;
  readonly name: string;
  readonly code: string;
  readonly configurable_props: readonly { readonly name: string; readonly type: string }[];
  readonly origin: { readonly package: string; readonly version: string; readonly integrity: string } | null;
}
interface Source {
  readonly id: string;
  readonly configured_props: Readonly<Record<string, { readonly endpoint_url?: string }>>;
}
interface Answer<T> {
  readonly data: T;
  readonly error?: string;
  readonly code?: string;
}
interface Event {
  readonly event: Readonly<Record<string, unknown>>;
}

interface World {
  readonly headwater: Headwater;
  readonly ledger: LedgerService;
  readonly account: string;
  /** Of the registry; further ones can be added. */
  readonly packages: FakePackage[];
  ask<T>(method: string, path: string, body?: unknown): Promise<T>;
}

async function startWorld(): Promise<World> {
  const packages = [await fixturePackage("piece-ledger"), await fixturePackage("tasks")];
  const { npm } = await startRegistry(packages);
  const ledger = await startLedger();
  onTestFinished(() => ledger.stop());
  const directory = await temporaryDirectory("connectors");
  onTestFinished(() => directory.remove());
  const env = { npm_config_registry: npm.registry };
  const headwater = await startHeadwater({ dataDirectory: join(directory.path, "data"), env });
  onTestFinished(async () => void (await headwater.stop()));
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const { status, body: answer, text } = await headwater.call<Answer<T>>(method, path, body);
    expect(status, `${method} ${path}: ${text}`).toBe(200);
    return answer.data;
  };
  const { id } = await ask<{ id: string }>("POST", "/accounts", { app: "ledger", credentials: { oauth_access_token: ledger.token } });
  return { headwater, ledger, account: id, packages, ask };
}

const eventsOf = ({ ask }: World, { id }: Source): Promise<readonly Event[]> => ask("GET", `/sources/${id}/event_summaries`);

it("deploys components, triggers and actions of packages of npm", async () => {
  const world = await startWorld();
  await listsPackages(world);
  await componentFileBecomesSource(world);
  await actionBecomesStep(world);
  await pollingTriggerFindsWhatIsNew(world);
  await webhookTriggerRegistersItsEndpoint(world);
  await newerVersionIsDeployedOnRequest(world);
  await foldersBeginWithComponents(world);
  expect(world.ledger.refusals).toEqual([]);
});

async function listsPackages({ ask, headwater }: World): Promise<void> {
  const components = await ask<readonly { component_url: string; type: string }[]>("GET", "/packages/@acme%2Fpiece-ledger/components");
  expect(components.map(({ component_url: url, type }) => [url, type])).toEqual([
    ["npm:@acme/piece-ledger@2.1.0#action/add_entry", "action"],
    ["npm:@acme/piece-ledger@2.1.0#trigger/new_entry", "source"],
    ["npm:@acme/piece-ledger@2.1.0#trigger/entry_posted", "source"],
    ["npm:@acme/piece-ledger@2.1.0#trigger/app_event", "source"],
  ]);
  expect(await ask("GET", "/packages/@acme%2Fpiece-ledger")).toMatchObject({ kind: "piece", app: "ledger", actions: 1, sources: 3 });
  const absent = await headwater.call<Answer<unknown>>("GET", "/packages/absent/components");
  expect([absent.status, absent.body.code]).toEqual([404, "package_not_found"]);
}

async function componentFileBecomesSource(world: World): Promise<void> {
  const { ask } = world;
  const url = "npm:@acme/tasks@^1/sources/new-task/new-task.mjs";
  const saved = await ask<Component>("POST", "/components", { component_url: url });
  expect(saved).toMatchObject({ name: "New Task", origin: { url, package: "@acme/tasks", version: "1.2.0" } });
  const source = await ask<Source>("POST", "/sources", { component_url: url });
  await fetch(source.configured_props["http"]?.endpoint_url ?? "", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ id: 1, title: "tea" }),
  });
  await until(async () => (await eventsOf(world, source)).length === 1, "the component of the package emits");
}

async function actionBecomesStep({ ask, ledger, account }: World): Promise<void> {
  const url = "npm:@acme/piece-ledger@2#action/add_entry";
  const { id } = await ask<Component>("POST", "/components", { component_url: url });
  const configured = { ledger: { authProvisionId: account }, server: ledger.origin };
  const { options } = await ask<{ options: unknown }>("POST", `/components/${id}/options`, {
    prop_name: "book",
    configured_props: configured,
  });
  expect(options).toEqual([
    { label: "Travel", value: "travel" },
    { label: "Office", value: "office" },
  ]);
  const { configurable_props: props } = await ask<Component>("POST", `/components/${id}/props`, {
    configured_props: { ...configured, book: "travel" },
  });
  expect(props.map(({ name }) => name)).toContain("details_city");
  const workflow = await ask<{ id: string; triggers: readonly { endpoint_url: string }[] }>("POST", "/workflows", {
    name: "Bookkeeping",
    triggers: [{ type: "http" }],
    steps: [
      {
        name: "add",
        component_url: url,
        props: {
          ...configured,
          book: "travel",
          direction: "out",
          amount: "{{ steps.trigger.event.body.amount }}",
          tags: ["a"],
          extra: '{"b":1}',
          receipt: "data:text/plain;base64,aGk=",
          details_city: "Oslo",
        },
      },
    ],
  });
  await fetch(workflow.triggers[0]?.endpoint_url ?? "", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ amount: 12.5 }),
  });
  interface Run {
    readonly id: string;
    readonly status: string;
    readonly steps: readonly { readonly return_value: unknown }[];
  }
  const newest = async (): Promise<Run | undefined> => (await ask<readonly Run[]>("GET", `/workflows/${workflow.id}/runs`))[0];
  await until(async () => ["succeeded", "failed"].includes((await newest())?.status ?? ""), "the step runs");
  const run = await ask<Run>("GET", `/workflows/${workflow.id}/runs/${(await newest())?.id}`);
  expect(run.steps[0]?.return_value).toEqual({
    entry: { id: 1, book: "travel", direction: "out", amount: 12.5, city: "Oslo" },
    tags: ["a"],
    extra: { b: 1 },
    file: expect.stringMatching(/^\/tmp\/.*-receipt\.txt$/),
    receipt: "aGk=",
    executionType: "BEGIN",
  });
}

async function pollingTriggerFindsWhatIsNew(world: World): Promise<void> {
  const { ask, ledger, account } = world;
  const source = await ask<Source>("POST", "/sources", {
    component_url: "npm:@acme/piece-ledger#trigger/new_entry",
    configured_props: { ledger: { authProvisionId: account }, server: ledger.origin, timer: { intervalSeconds: 1 } },
  });
  await ledger.add({ book: "office", direction: "in", amount: 1 });
  await ledger.add({ book: "office", direction: "in", amount: 2 });
  await until(async () => (await eventsOf(world, source)).length >= 2, "both new entries are emitted");
  const events = await eventsOf(world, source);
  // Not the entry from before it was deployed; each once, the newest first in the list.
  expect(events.map(({ event }) => event["amount"])).toEqual([2, 1]);
  await world.headwater.call("DELETE", `/sources/${source.id}`);
}

async function webhookTriggerRegistersItsEndpoint(world: World): Promise<void> {
  const { ask, ledger, account, headwater } = world;
  const source = await ask<Source>("POST", "/sources", {
    component_url: "npm:@acme/piece-ledger#trigger/entry_posted",
    configured_props: { ledger: { authProvisionId: account }, server: ledger.origin },
  });
  // The service accepted the address, because it repeated the challenge.
  expect([...ledger.hooks.values()]).toEqual([source.configured_props["http"]?.endpoint_url]);
  expect(await ledger.add({ book: "office", direction: "in", amount: 30 })).toEqual([200]);
  await until(async () => (await eventsOf(world, source)).length === 1, "the posted entry is emitted");
  expect((await eventsOf(world, source))[0]?.event).toEqual({ id: ledger.entries.length, book: "office", direction: "in", amount: 30 });
  expect((await headwater.call("DELETE", `/sources/${source.id}`)).status).toBe(204);
  await until(() => ledger.hooks.size === 0, "deleting the source removes its webhook");
}

const cliOf = ({ headwater }: World) => ({
  directory: headwater.dataDirectory,
  env: { HEADWATER_URL: headwater.apiUrl.replace(/\/v1$/, ""), HEADWATER_API_KEY: headwater.key },
});

const runIn =
  (world: World) =>
  async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await hw(cliOf(world), args);
    expect(code, `hw ${args.join(" ")}: ${stderr}`).toBe(0);
    return stdout;
  };

async function foldersBeginWithComponents(world: World): Promise<void> {
  const run = runIn(world);
  const trigger = "npm:@acme/piece-ledger#trigger/new_entry";
  expect(await run("init", "source", "entries", "--from", trigger)).toContain("hw deploy entries/entries.mjs");
  const account = `ledger=${world.account}`;
  expect(await run("deploy", "entries/entries.mjs", "--prop", account, "--prop", `server=${world.ledger.origin}`)).toMatch(
    /^source new-entry deployed /m,
  );
  await run("init", "workflow", "booking", "--from", "npm:@acme/piece-ledger#action/add_entry");
  const folder = join(world.headwater.dataDirectory, "booking");
  expect(await readFile(join(folder, "workflow.yaml"), "utf8")).toContain('      # server: "Server" (string)\n');
  expect(await readFile(join(folder, "add_entry.mjs"), "utf8")).toMatch(/^\/\/ npm:@acme\/piece-ledger@2\.1\.0 sha512-/);
  const mistaken = await hw(cliOf(world), ["init", "workflow", "wrong", "--from", trigger]);
  expect(mistaken).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("hw init source wrong --from npm:@acme/piece-ledger#trigger/new_entry"),
  });
}

async function newerVersionIsDeployedOnRequest(world: World): Promise<void> {
  const { packages } = world;
  const run = runIn(world);
  packages.push(await fixturePackage("tasks", { version: "1.3.0" }));
  await until(async () => /^new-task +@acme\/tasks +1\.2\.0 +1\.3\.0 +1\.3\.0/m.test(await run("outdated")), "the newer version is found");
  expect(await run("connectors", "list", "npm:@acme/tasks")).toContain("npm:@acme/tasks@1.3.0/sources/new-task/new-task.mjs");
  expect(await run("update", "new-task", "--newest")).toMatch(/^source new-task changed/);
  expect(await run("outdated")).not.toContain("new-task");
  expect(await run("update", "new-task", "--newest")).toMatch(/has the newest version/);
}
