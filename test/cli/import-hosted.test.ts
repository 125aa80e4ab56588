import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { hostedSource, startHostedService, type HostedService } from "../support/hosted-service.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { hw, type World } from "./hw.ts";

let directory: TemporaryDirectory;
let there: HostedService;
let world: World;

beforeAll(async () => {
  directory = await temporaryDirectory("import-hosted");
  there = await startHostedService({
    components: { sc_feed: "export default { feed: 1 };", sc_shop: "export default { shop: 1 };" },
    sources: [
      hostedSource("dc_feed", "sc_feed", { timer: { cron: null, interval_seconds: 900 }, db: { type: "$.service.db" }, city: "Bern" }),
      hostedSource("dc_cron", "sc_feed", { timer: { cron: "0 9 * * *", timezone: "Europe/Bern", interval_seconds: null } }, false),
      hostedSource("dc_shop", "sc_shop", { shop: { authProvisionId: "apn_there" }, token: null, http: { endpoint_url: "https://x" } }),
      hostedSource("dc_lost", "sc_lost", {}),
    ],
    webhooks: [{ id: "wh_there", url: "https://example.com/hook", name: "My Feed", description: null, active: false }],
    subscriptions: [
      { id: "sub_1", emitter_id: "dc_feed", listener_id: "wh_there", event_name: "" },
      { id: "sub_2", emitter_id: "dc_*", listener_id: "wh_there", event_name: "$errors" },
      { id: "sub_3", emitter_id: "dc_feed", listener_id: "dc_shop", event_name: "added" },
      { id: "sub_4", emitter_id: "p_flow", listener_id: "wh_there", event_name: "" },
    ],
  });
  world = { directory: directory.path, env: { HOME: directory.path, PIPEDREAM_API_KEY: there.key } };
});
afterAll(async () => {
  await there.stop();
  await directory.remove();
});

const run = (...args: readonly string[]) => hw(world, ["import", "pipedream", "--from-api", "--api", there.url, ...args]);

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

async function importAll(answers = "{}"): Promise<{ readonly manifests: readonly Manifest[]; readonly report: string }> {
  const file = join(directory.path, "answers.yaml");
  await writeFile(file, answers);
  const { code, stderr } = await run("--answers", file, "--to", join(directory.path, "moved"), "--yes");
  expect(code, stderr).toBe(0);
  const text = await readFile(join(directory.path, "moved", "moved.yaml"), "utf8");
  return {
    manifests: parseAllDocuments(text).map((document) => document.toJS() as Manifest),
    report: await readFile(join(directory.path, "moved", "report.md"), "utf8"),
  };
}

describe("hw import pipedream --from-api", () => {
  it("writes sources that are switched off, webhooks and subscriptions that refer to them, and changes nothing there", async () => {
    const { manifests } = await importAll();
    const byName = new Map(manifests.map(({ kind, metadata, spec }) => [`${kind} ${metadata.name}`, spec]));
    expect(byName.get("Source my-dc-feed")).toEqual({
      name: "my dc_feed",
      code: "export default { feed: 1 };",
      props: { timer: { intervalSeconds: 900 }, city: "Bern" },
      active: false,
      emitOnDeploy: false,
    });
    expect(byName.get("Source my-dc-cron")).toMatchObject({ props: { timer: { cron: "0 9 * * *", timezone: "Europe/Bern" } } });
    expect(byName.get("Webhook my-feed")).toEqual({ url: "https://example.com/hook", name: "My Feed", active: false });
    const subscriptions = manifests.filter(({ kind }) => kind === "Subscription").map(({ spec }) => spec);
    const webhook = { kind: "Webhook", name: "my-feed" };
    expect(subscriptions).toEqual([
      { emitter: "p_flow", listenerRef: webhook },
      { emitterRef: { kind: "Source", name: "my-dc-feed" }, listenerRef: { kind: "Source", name: "my-dc-shop" }, channel: "added" },
      { emitter: "dc_*", listenerRef: webhook, channel: "$errors" },
      { emitterRef: { kind: "Source", name: "my-dc-feed" }, listenerRef: webhook },
    ]);
    expect(there.changes).toEqual([]);
  });

  it("says what needs a hand, and takes accounts and values from the answers", async () => {
    const { report } = await importAll();
    expect(report).toContain("# Import of 4 sources, 1 webhook, 4 subscriptions: 6 can run as they are");
    expect(report).toMatch(/source dc_shop: it uses the account apn_there of the service.*accounts\.apn_there/);
    expect(report).toMatch(/source dc_lost: the service does not have the code of its component sc_lost/);
    expect(report).toMatch(/p_flow is not among what is moved/);
    const answered = await importAll("accounts: { apn_there: apn_here }\nprops: { dc_shop: { token: secret } }");
    const shop = answered.manifests.find(({ metadata }) => metadata.name === "my-dc-shop");
    expect(shop?.spec["props"]).toEqual({ shop: { authProvisionId: "apn_here" }, token: "secret" });
    expect(answered.report).not.toContain("apn_there");
  });

  it.each([
    ["without a key", { env: { PIPEDREAM_API_KEY: "" } }, [], 2, "PIPEDREAM_API_KEY is not set"],
    ["with a wrong key", { env: { PIPEDREAM_API_KEY: "wrong" } }, [], 1, "the service refuses the key"],
    ["with an export too", {}, ["folder"], 2, "'folder' is given beside --from-api"],
    ["of an organization that it does not have", {}, ["--from-org", "o_1"], 1, "GET /orgs/o_1/sources?limit=100 was answered with 404"],
  ] as const)("is refused %s", async (_what, { env }: { readonly env?: World["env"] }, args, code, message) => {
    const result = await hw({ ...world, env: { ...world.env, ...env } }, [
      "import",
      "pipedream",
      "--from-api",
      "--api",
      there.url,
      ...args,
    ]);
    expect(result).toMatchObject({ code, stderr: expect.stringContaining(message) as string });
  });

  it.each([
    ["answers with another form", '{"data":[{"id":5}]}', "the answer to /users/me/sources has another form: data.0.id"],
    ["answers with HTML", "<html>", "is not JSON: is http"],
    ["answers without end", undefined, "has more than 8388608 bytes"],
    ["redirects", "redirect", "cannot be reached"],
  ])("says so if the service %s", async (_what, body, message) => {
    const server: Server = createServer((_request, response) => {
      if (body === "redirect") return response.writeHead(302, { location: there.url }).end();
      if (body !== undefined) return response.end(body);
      const send = (): void => void (response.write("x".repeat(1_000_000)) ? setImmediate(send) : response.once("drain", send));
      response.on("close", () => response.removeAllListeners("drain"));
      return send();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo; // Listening on TCP.
    const result = await hw(world, ["import", "pipedream", "--from-api", "--api", `http://127.0.0.1:${port}/v1`]);
    server.closeAllConnections();
    server.close();
    expect(result.stderr).toContain(message);
    expect(result.code).not.toBe(0);
  });
});
