import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { steadyPort } from "../support/steady-port.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { documentedSettings, readerOf } from "./support/documented-pages.ts";
import { startHeadwater, type Headwater } from "../support/system/headwater.ts";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { until } from "../support/until.ts";
import type { Called } from "../support/system/client.ts";
import { found, foundInFiles, needle } from "./support/needles.ts";
import { mainOf, processesOf } from "../support/process-tree.ts";
import { create, createWebhook, deploy, postJson, subscribe } from "../support/system/sources.ts";

/** One installation by `npm start`, from its first line to Ctrl-C: the tests depend on each other, because a start takes 7 s of CPU time. */
let directory: TemporaryDirectory;
let data: string;
let ports: { readonly api: number; readonly ingress: number };
let headwater: Headwater;
let receiver: Receiver;
let printed = "";
const secrets = { prop: randomBytes(16).toString("hex"), credential: randomBytes(16).toString("hex") };

interface Readiness {
  readonly status: number;
  readonly body: { readonly status: string; readonly checks: Readonly<Record<string, string>> };
}
const start = (): Promise<Headwater> =>
  startHeadwater({ dataDirectory: data, ports, env: { ...documentedSettings(), HEADWATER_LOG_LEVEL: "debug" } });

beforeAll(async () => {
  [directory, receiver] = [await temporaryDirectory("npm-start"), await startReceiver()];
  data = join(directory.path, ".headwater");
  ports = { api: await steadyPort(), ingress: await steadyPort() };
});
afterAll(async () => {
  await receiver.close();
  await directory.remove();
});

async function readiness(): Promise<Readiness | undefined> {
  const response = await fetch(`http://127.0.0.1:${ports.api}/readyz`).catch(() => undefined);
  return response === undefined ? undefined : { status: response.status, body: (await response.json()) as Readiness["body"] };
}

/** The processes that one setting starts. */
function processesWith(setting: string): readonly number[] {
  const environmentOf = (pid: number): readonly string[] => {
    try {
      return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    } catch {
      return []; // It ended in the meantime.
    }
  };
  const found = processesOf(data).filter(({ pid, command }) => command.includes("main.ts") && environmentOf(pid).includes(setting));
  return found.map(({ pid }) => pid);
}

it("answers 503 until a component can be saved, deployed and run; only then prints that it is ready, and where the key is", async () => {
  const seen: Readiness[] = [];
  let hasPrinted = false;
  const starting = start().finally(() => (hasPrinted = true));
  await until(async () => {
    const now = await readiness();
    if (now !== undefined) seen.push(now);
    return hasPrinted;
  }, "npm start prints that it is ready");
  headwater = await starting;
  for (const { status, body } of seen) {
    expect([
      [503, "not ready"],
      [200, "ready"],
    ]).toContainEqual([status, body.status]);
  }
  const isReady = ({ status }: Readiness): boolean => status === 200;
  const sinceReady = seen.some(isReady) ? seen.slice(seen.findIndex(isReady)) : [];
  // On a busy machine a check may be late; it may not fail.
  for (const check of sinceReady.flatMap(({ body }) => Object.values(body.checks))) expect(check).toMatch(/^ok$|no answer within/);
  expect((await readiness())?.body).toEqual({
    status: "ready",
    checks: { database: "ok", streams: "ok", store: "ok", builder: "ok", operator: "ok", runners: "ok" },
  });
  const { id } = await deploy(headwater, 'export default { name: "One", run() { return 1; } }');
  const run = await headwater.call<{ data: { status: string } }>("POST", `/sources/${id}/runs`, {});
  expect([run.status, run.body.data.status], run.text).toEqual([200, "succeeded"]);
  expect(headwater.output()).toContain("Headwater is ready");
  expect(headwater.output()).toContain(join(data, "api-key"));
});

it("prints what the README shows for the commands of its quick start", async () => {
  const expectPageIsTrue = await readerOf(directory.path, headwater);
  await expectPageIsTrue("README.md");
});

it("names the missing role in /readyz while the builder is down, and is ready again when it is back", async () => {
  const builders = processesWith("HEADWATER_ROLES=builder");
  expect(builders).toHaveLength(1);
  for (const pid of builders) process.kill(pid, "SIGKILL");
  let away: Readiness | undefined;
  await until(async () => (away = await readiness())?.status === 503, "it is not ready");
  expect(away?.body.checks).toMatchObject({ database: "ok", streams: "ok", store: "ok", operator: "ok", runners: "ok" });
  expect(away?.body.checks["builder"]).toMatch(/^(no builder is running|the builder did not answer)/);
  await until(async () => (await readiness())?.status === 200, "it is ready again", { more: headwater.output });
});

it("runs a source and answers its caller while the API process is suspended", async () => {
  const { endpoint } = await deploy(
    headwater,
    `export default {
    name: "Greeter", props: { http: { type: "$.interface.http", customResponse: true } },
    run({ body }) { this.http.respond({ status: 200, body: "hello " + body.name }); },
  };`,
  );
  const greet = async (name: string): Promise<string> => (await postJson(endpoint, { name })).text();
  expect(await greet("Ada")).toBe("hello Ada");
  const main = mainOf(data);
  process.kill(main, "SIGSTOP");
  try {
    expect(await greet("Bob")).toBe("hello Bob");
  } finally {
    process.kill(main, "SIGCONT");
  }
});

it("shows no secret in the results, errors and logs of runs that print them", async () => {
  const { prop, credential } = secrets;
  const account = await create(headwater, "/accounts", { app: "shop", credentials: { key: credential } });
  const code = `export default {
    name: "Careless", props: { token: { type: "string", secret: true }, shop: { type: "app", app: "shop" } },
    async run() {
      for (const secret of [this.token, this.shop.$auth.key]) {
        console.log(secret, { secret }, Buffer.from(secret).toString("base64"));
        await fetch("http://127.0.0.1:1/?access_token=" + secret, { headers: { authorization: "Bearer " + secret } }).catch(console.error);
      }
      throw new Error("no such key " + this.token, { cause: this.shop });
    },
  };`;
  const { id } = await deploy(headwater, code, { token: prop, shop: { authProvisionId: account.id } });
  const run = await headwater.call<{ data: { status: string } }>("POST", `/sources/${id}/runs`, {});
  expect(run.body.data.status, run.text).toBe("failed");
  expect(run.text).toContain("ECONNREFUSED");
  const answers = [run.text];
  for (const path of [`/sources/${id}`, `/sources/${id}/logs`, `/sources/${id}/runs`, "/accounts"])
    answers.push((await headwater.call("GET", path)).text);
  expect(found([needle("the prop", prop), needle("the credential", credential)], "an answer", answers.join("\n"))).toEqual([]);
});

describe("a start after every process was killed", () => {
  it("runs what was accepted, and delivers once what was scheduled", async () => {
    const source = await deploy(
      headwater,
      `export default {
      name: "Later", props: { http: "$.interface.http", db: "$.service.db" },
      run({ body }) {
        const n = (this.db.get("n") ?? 0) + 1;
        this.db.set("n", n);
        this.$emit({ n, text: body.text }, body.inMs === undefined ? {} : { delivery_ts: Date.now() + body.inMs });
      },
    };`,
    );
    await subscribe(headwater, source.id, await createWebhook(headwater, receiver.url));
    const inMs = 20_000;
    expect((await postJson(source.endpoint, { text: "scheduled", inMs })).status).toBe(200);
    const summaries = (channel: string): Promise<Called<{ data: readonly unknown[] }>> =>
      headwater.call("GET", `/sources/${source.id}/event_summaries?event_name=${channel}`);
    await until(async () => (await summaries("$in")).body.data.length === 1, "the event is scheduled");
    const accepted = ["one", "two", "three", "four", "five"];
    for (const text of accepted) expect((await postJson(source.endpoint, { text })).status).toBe(200);

    for (const { pid } of processesOf(data)) process.kill(pid, "SIGKILL");
    await until(() => processesOf(data).length === 0, "every process ends");
    await headwater.stop();
    printed = headwater.output();
    headwater = await start();
    const received = (): readonly string[] => receiver.received.map(({ body }) => body).toSorted();
    const expected = ["scheduled", ...accepted].map((text, index) => JSON.stringify({ n: index + 1, text }));
    await until(() => expected.every((body) => received().includes(body)), "all are delivered", { more: () => received().join("\n") });
    await until(async () => (await summaries("$in")).body.data.length === 0, "nothing is scheduled any more");
    expect(received().filter((body) => body === expected[0])).toHaveLength(1);
  });
});

it("ends gracefully by Ctrl-C, and leaves no process running", async () => {
  expect(await headwater.stop(), headwater.output()).toBe(0);
  await until(() => processesOf(data).length === 0, "every process ends", { more: () => JSON.stringify(processesOf(data), null, 1) });
});

it("has written no secret to its output, databases and files, except for the API key in its own file", () => {
  const needles = [
    needle("the secret prop", secrets.prop),
    needle("the credential", secrets.credential),
    needle("the API key", headwater.key),
  ];
  expect(found(needles, "the output", printed + headwater.output())).toEqual([]);
  expect(foundInFiles(needles, data, [join(data, "api-key")])).toEqual([]);
});
