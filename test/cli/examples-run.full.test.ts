import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { loadAll } from "../../cli/commands.ts";
import { startHeadwater, type Headwater } from "../support/system/headwater.ts";
import { until } from "../support/until.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { hw, shell, type Ended, type World } from "./hw.ts";

/** Runs each example of docs/cli.md as it stands there, in a directory and with the things that it names. */
const examples = (await loadAll()).flatMap(({ definition }) => definition.examples).filter(({ isInert }) => isInert !== true);
/** Examples that end with another code than 0 by design. */
const codes: Readonly<Record<string, number>> = { "hw diff -f resources.yaml": 1, "hw webhooks test orders": 1 };

const component = `export default {
  name: "Hello",
  key: "hello",
  version: "0.0.1",
  props: {
    timer: { type: "$.interface.timer", default: { intervalSeconds: 3600 } },
    city: { type: "string", optional: true, options() { return ["Kiel"]; } },
  },
  run(event) { console.log("run"); this.$emit({ hello: "world" }, { summary: "hello" }); },
};
`;
const workflow = `name: greet
steps:
  - name: reply
    component_code: |
      export default { type: "action", name: "Reply", version: "0.0.1", run({ steps }) { return steps.trigger.event; } };
`;
const feed = component.replace("Hello", "Feed").replace("hello", "acme-feed").replace("0.0.1", "1.0.0");
const resources = `apiVersion: headwater.dev/v1alpha1
kind: Webhook
metadata: { name: more-orders }
spec: { url: "https://example.com/more" }
`;

let headwater: Headwater;
let directory: TemporaryDirectory;
let world: World;

beforeAll(async () => {
  directory = await temporaryDirectory("cli");
  const adminToken = { HEADWATER_ADMIN_TOKEN_FILE: join(directory.path, "admin-token") };
  await writeFile(adminToken.HEADWATER_ADMIN_TOKEN_FILE, randomBytes(32).toString("hex"), { mode: 0o600 });
  headwater = await startHeadwater({ dataDirectory: join(directory.path, ".headwater"), env: adminToken });
  await mkdir(join(directory.path, "home"));
  world = { directory: directory.path, env: { HOME: join(directory.path, "home"), ...adminToken } };
  const files = {
    "hello.mjs": component,
    "acme-feed.mjs": feed,
    "workflow.yaml": workflow,
    "resources.yaml": resources,
    "credentials.json": '{"oauth_access_token":"x"}',
    "key.txt": headwater.key,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory.path, name), text);
});
afterAll(async () => {
  await headwater.stop();
  await directory.remove();
});

const steps = [
  {
    name: "reply",
    component_code: 'export default { type: "action", name: "R", version: "0.0.1", run({ steps }) { return steps.trigger.event; } };',
  },
];
/** Their triggers by name. */
const workflows = { greet: [], report: [{ type: "timer", cron: "0 8 * * *" }] };

/** Creates what earlier examples have deleted. */
beforeEach(async () => {
  const has = async (list: string, name: string): Promise<boolean> => {
    const { body } = await headwater.call<{ data: { name: string | null; orgname?: string }[] }>("GET", list);
    return body.data.some((item) => item.name === name || item.orgname === name);
  };
  const create = async (path: string, body: unknown): Promise<void> => {
    const { status, text } = await headwater.call("POST", path, body);
    expect({ path, status, text }).toMatchObject({ status: 200 });
  };
  if (!(await has("/users/me/sources?limit=100", "hello"))) await create("/sources", { component_code: component, name: "hello" });
  if (!(await has("/users/me/webhooks?limit=100", "orders"))) await create("/webhooks", { url: "http://127.0.0.1:9/", name: "orders" });
  if (!(await has("/users/me/keys", "ci"))) await create("/users/me/keys", { name: "ci" });
  for (const [name, triggers] of Object.entries(workflows))
    if (!(await has("/users/me/workflows?limit=100", name))) await create("/workflows", { name, triggers, steps });
});

const createAcme = "hw orgs create 'Acme Inc' --orgname acme";
const createAda = "hw admin users create ada ada@example.com";
const createAccount = "hw accounts create github --name work --credentials @credentials.json";
const login = "hw login --url https://headwater.example.com --key-file key.txt --profile work";

/** The id with this prefix in the first line that has the name. */
const idBeside =
  (name: string, prefix: string) =>
  (printed: string): string | undefined =>
    new RegExp(`^(?=.* ${name} ).*?\\b(${prefix}_[a-z0-9]+)`, "m").exec(printed)?.[1];
/** Of an event: tests have no source, and cannot be retried. */
const deliveryOfEvent = (printed: string): string | undefined =>
  (JSON.parse(printed) as { data: { source_id: string | null; delivery_id: string }[] }).data.find(({ source_id }) => source_id !== null)
    ?.delivery_id;
const firstEvent = (printed: string): string | undefined => (JSON.parse(printed) as { data: { id: string }[] }).data[0]?.id;
const whole = (printed: string): string => printed.trim();

/** What stands for ids and addresses that only this installation has: the command that prints them, and how to find them in its output. */
const placeholders: Readonly<Record<string, readonly [command: string, find: (printed: string) => string | undefined]>> = {
  dc_0123456789ab: ["hw describe source/hello -o name", whole],
  r_0123456789ab: ["hw runs hello -n 1 -o name", whole],
  "1795265888617-0": ["hw events hello -n 1 -o json", firstEvent],
  dlv_0123456789ab: ["hw webhooks deliveries orders -o json", deliveryOfEvent],
  o_0123456789ab: ["hw admin orgs list", idBeside("acme", "o")],
  pk_0123456789ab: ["hw list keys", idBeside("ci", "pk")],
  u_0123456789ab: ["hw admin users list", idBeside("ada", "u")],
};

/** The command with ids of this installation. A delivery is recorded a moment after the run. */
async function withRealIds(command: string): Promise<string> {
  let text = command.replace("https://headwater.example.com --key", `${headwater.apiUrl.replace(/\/v1$/, "")} --key`);
  for (const [placeholder, [printing, find]] of Object.entries(placeholders).filter(([each]) => text.includes(each))) {
    let id = "";
    await until(async () => (id = find((await runLine(printing)).stdout) ?? "") !== "", `${printing} prints an id`);
    text = text.replaceAll(new RegExp(`\\b${placeholder}\\b`, "g"), id);
  }
  return text;
}

/** Runs a line in this process if it is one `hw` command, because a process takes 0.4 s of CPU time; otherwise in bash. */
function runLine(line: string): Promise<Ended> {
  const words = line.match(/'[^']*'|"[^"]*"|[^\s'"]+(?:'[^']*')?/g) ?? [];
  const isOneCommand = words.every((word) => /^['"]/.test(word) || !/[|&;<>$]/.test(word));
  return isOneCommand
    ? hw(
        world,
        words.slice(1).map((word) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, "$1$2")),
      )
    : shell(world, line);
}

/** What a command needs besides: by the beginning of the command, command lines that may fail. */
const before: readonly (readonly [beginning: string, lines: readonly string[]])[] = [
  ["hw orgs create", ["hw delete orgs/acme --yes"]],
  ["hw orgs invite", [createAda, createAcme, "hw orgs remove acme u_0123456789ab --yes"]],
  ["hw orgs set-role", [createAda, createAcme, "hw admin orgs set-member o_0123456789ab u_0123456789ab member"]],
  ["hw orgs remove", [createAda, createAcme, "hw admin orgs set-member o_0123456789ab u_0123456789ab member"]],
  ["hw orgs ", [createAcme]],
  ["hw admin orgs create", []],
  ["hw admin orgs plan", [createAcme, "hw admin plans save large --form paid --runs none"]],
  ["hw admin orgs remove-member", [createAcme, createAda, "hw admin orgs set-member o_0123456789ab u_0123456789ab admin"]],
  ["hw admin orgs ", [createAcme]],
  ["hw admin users create", [createAda, "hw admin users delete u_0123456789ab --yes"]],
  ["hw admin users delete", [createAda]],
  ["hw admin users plan", ["hw admin plans save free --form free --runs none"]],
  ["hw accounts create", []],
  ["hw accounts update", ["hw accounts delete work --yes", createAccount]],
  ["hw accounts delete", ["hw accounts delete work --yes", createAccount]],
  ["hw data-stores create", ["hw data-stores delete orders --yes"]],
  ["hw data-stores list", []],
  ["hw data-stores ", ["hw data-stores delete orders --yes", "hw data-stores create orders", "hw data-stores set orders last 1"]],
  ["hw runs hello r_", ["hw run hello --event null"]],
  ["hw trace ", ["hw run hello --event null"]],
  ["hw webhooks delivery ", ["hw subscribe hello orders", "hw run hello --event null"]],
  ["hw webhooks retry", ["hw subscribe hello orders", "hw run hello --event null"]],
  ["hw profiles use", [login]],
  ["hw logout", [login]],
  ["hw unsubscribe", ["hw subscribe hello orders", "hw subscribe --all --channel '$errors' orders"]],
  ["hw components deprecate acme-feed", ["hw components publish acme-feed.mjs"]],
  ["hw components unpublish", ["hw components publish acme-feed.mjs", "hw components deprecate acme-feed@1.0.0 --reason old"]],
  [
    "hw admin plans delete",
    [
      "hw admin plans save free --form free --runs none",
      createAcme,
      "hw admin orgs plan o_0123456789ab free",
      "hw admin plans save large --form paid --runs none",
    ],
  ],
  ["hw webhooks create", ["hw delete webhooks/orders --yes"]],
  ["hw workflows create", ["hw delete workflows/greet --yes"]],
  ["hw keys create", ["hw keys revoke ci --yes"]],
  ["hw diff", ["hw delete webhooks/more-orders --yes"]],
];

it.each(examples)("runs: $command", async ({ command }) => {
  const lines = before.find(([beginning]) => command.startsWith(beginning))?.[1] ?? [];
  for (const line of lines) await runLine(await withRealIds(line));
  const { code, stdout, stderr } = await runLine(await withRealIds(command));
  expect({ stdout, stderr, code }).toMatchObject({ code: codes[command] ?? 0 });
  expect(stderr).not.toMatch(/^\s+at /m);
});

it("has the examples in docs/cli.md", async () => {
  const page = await readFile(join(import.meta.dirname, "..", "..", "docs", "cli.md"), "utf8");
  expect(examples.filter(({ command }) => !command.startsWith("hw complete ") && !page.includes(`\n$ ${command}\n`))).toEqual([]);
});
