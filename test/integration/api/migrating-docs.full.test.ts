import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { keys, withApi } from "./support.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.ts";
import { hostedSource, startHostedService, type HostedService } from "../../support/hosted-service.ts";

/** The program of docs/migrating.md, from a server that knows the specification alone to our API. Its steps follow one another. */
const program = join(import.meta.dirname, "../../../docs/examples/move.mjs");
const here = withApi();
let there: HostedService;
let directory: TemporaryDirectory;

beforeAll(async () => {
  directory = await temporaryDirectory("move");
  const app = { authProvisionId: "apn_there" };
  there = await startHostedService({
    components: {
      sc_feed: "name: Feed; props: timer db city",
      sc_hook: "name: Hook; props: http",
      sc_shop: "name: Shop; props: shop token",
    },
    sources: [
      hostedSource("dc_feed", "sc_feed", { timer: { cron: null, interval_seconds: 900 }, db: { type: "$.service.db" }, city: "Bern" }),
      hostedSource("dc_cron", "sc_feed", { timer: { cron: "0 9 * * *", interval_seconds: null }, db: { type: "$.service.db" } }, false),
      hostedSource("dc_hook", "sc_hook", { http: { endpoint_url: "https://there.example.com/x" } }),
      hostedSource("dc_shop", "sc_shop", { shop: app }),
      hostedSource("dc_lost", "sc_lost", {}),
    ],
    webhooks: [{ id: "wh_there", url: "https://example.com/hook", name: "mine", description: null, active: true }],
    subscriptions: [
      { id: "sub_1", emitter_id: "dc_feed", listener_id: "wh_there", event_name: "" },
      { id: "sub_2", emitter_id: "dc_*", listener_id: "wh_there", event_name: "$errors" },
      { id: "sub_3", emitter_id: "dc_feed", listener_id: "dc_hook", event_name: "added" },
      { id: "sub_4", emitter_id: "p_flow", listener_id: "wh_there", event_name: "" },
    ],
  });
});
afterAll(async () => {
  await there.stop();
  await directory.remove();
});

const file = (): string => join(directory.path, "moved.json");
const movedSchema = z.looseObject({ sources: z.record(z.string(), z.string()), webhooks: z.record(z.string(), z.string()) });
const moved = async () => movedSchema.parse(JSON.parse(await readFile(file(), "utf8")));
const data = async (path: string) => (await here.ask("GET", `/v1${path}`)).body.data;

interface Moved {
  readonly code: number | null;
  readonly output: string;
  readonly complaints: string;
}

const settings = () => ({ FROM_URL: there.url, FROM_KEY: there.key, TO_URL: `${here.url}/v1`, TO_KEY: keys.ada });

function move(command: string, env: Readonly<Record<string, string>> = settings()): Promise<Moved> {
  const child = spawn(process.execPath, [program, command, file()], { env });
  let [output, complaints] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, output, complaints })));
}

describe("docs/examples/move.mjs", () => {
  it.each([
    ["a command is unknown", "mov", settings, 2, /^usage: node move\.mjs copy\|switch/],
    ["settings are missing", "copy", () => ({ TO_URL: "https://example.com/v1" }), 2, /^FROM_URL, FROM_KEY, TO_KEY must be set/],
    ["an address is invalid", "copy", () => ({ ...settings(), TO_URL: "example.com" }), 2, /^TO_URL 'example\.com' is invalid/],
    [
      "a server cannot be reached",
      "copy",
      () => ({ ...settings(), FROM_URL: "http://127.0.0.1:9/v1" }),
      1,
      /^copy: http:\/\/127\.0\.0\.1:9\/v1 cannot/,
    ],
    ["a key is wrong", "switch", () => ({ ...settings(), FROM_KEY: "wrong" }), 1, /^switch: GET \/users\/me\/sources\S* answered 401/],
  ])("prints the cause in one line when %s", async (_what, command, env, code, line) => {
    const failed = await move(command, env());
    expect(failed).toMatchObject({ code, output: "", complaints: expect.stringMatching(line) as string });
    expect(failed.complaints.trim().split("\n")).toHaveLength(1);
  });

  it("copies resources switched off, and reports what the others lack", async () => {
    const { code, output, complaints } = await move("copy");
    expect(code).toBe(1);
    const { sources, webhooks } = await moved();
    expect(Object.keys(sources)).toEqual(["dc_feed", "dc_cron", "dc_hook"]);
    expect(await data(`/sources/${sources["dc_feed"]}`)).toMatchObject({
      name: "my dc_feed",
      active: false,
      configured_props: { timer: { interval_seconds: 900 }, city: "Bern" },
    });
    expect(await data(`/sources/${sources["dc_cron"]}`)).toMatchObject({ configured_props: { timer: { cron: "0 9 * * *" } } });
    const hook = await data(`/sources/${sources["dc_hook"]}`);
    expect(hook.configured_props.http.endpoint_url).not.toContain("there.example.com");
    expect(output).toContain(`dc_hook is ${hook.id} here: my dc_hook ${hook.configured_props.http.endpoint_url}`);
    expect(output).toMatch(new RegExp(`wh_there is ${webhooks["wh_there"]} here: https://example.com/hook, signed with whsec_`));
    expect(complaints).toContain("sources dc_shop: 'shop' is the account apn_there: name ours for it in 'accounts'");
    expect(complaints).toContain("sources dc_lost: GET /components/sc_lost answered 404");
    expect(complaints).toContain("subscriptions sub_4: p_flow was not copied");
  });

  it("copies the subscriptions of copied resources", async () => {
    const { sources, webhooks } = await moved();
    const subscriptions: { emitter_id: string; listener_id: string; event_name: string }[] = await data("/users/me/subscriptions");
    expect(subscriptions.map(({ emitter_id, listener_id, event_name }) => [emitter_id, listener_id, event_name]).toSorted()).toEqual(
      [
        [sources["dc_feed"], webhooks["wh_there"], ""],
        ["dc_*", webhooks["wh_there"], "$errors"],
        [sources["dc_feed"], sources["dc_hook"], "added"],
      ].toSorted(),
    );
  });

  it("copies no resource twice, and a missing one once it is available", async () => {
    const { body } = await here.ask("POST", "/v1/accounts", { body: { app: "shop", credentials: { key: "change-me" } } });
    const before = await moved();
    const account: string = body.data.id;
    await writeFile(file(), JSON.stringify({ ...before, accounts: { apn_there: account }, props: { dc_shop: { token: "secret" } } }));
    const { output } = await move("copy");
    const after = await moved();
    expect(after.sources).toEqual({ ...before.sources, dc_shop: expect.stringMatching(/^dc_/) });
    expect(output.trim().split("\n")).toHaveLength(1);
    expect(await data(`/sources/${after.sources["dc_shop"]}`)).toMatchObject({ configured_props: { shop: { authProvisionId: account } } });
    expect(await data("/users/me/sources")).toHaveLength(4);
    expect(await data("/users/me/webhooks")).toHaveLength(1);
    expect(await data("/users/me/subscriptions")).toHaveLength(3);
  });

  it("switches active sources off in the service, then on here", async () => {
    expect(there.changes).toEqual([]);
    const { code } = await move("switch");
    expect(code).toBe(0);
    const off = (id: string, component: string): string =>
      `PUT /sources/${id} {"component_id":"${component}","name":"my ${id}","active":false}`;
    expect(there.changes).toEqual([off("dc_feed", "sc_feed"), off("dc_hook", "sc_hook"), off("dc_shop", "sc_shop")]);
    const { sources } = await moved();
    const isActive = async (id: string): Promise<boolean> => (await data(`/sources/${sources[id]}`)).active;
    expect(await Promise.all(["dc_feed", "dc_cron", "dc_hook", "dc_shop"].map(isActive))).toEqual([true, false, true, true]);
  });

  it("continues after an interruption between the two", async () => {
    const before = await moved();
    await here.ask("PUT", `/v1/sources/${before.sources["dc_feed"]}`, { body: { active: false } });
    await writeFile(file(), JSON.stringify({ ...before, switching: ["dc_feed"] }));
    expect((await move("switch")).output).toBe(`${before.sources["dc_feed"]} runs here instead of dc_feed\n`);
    expect((await data(`/sources/${before.sources["dc_feed"]}`)).active).toBe(true);
    expect(await moved()).toMatchObject({ switching: [] });
  });
});
