import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { steadyPort } from "../support/steady-port.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startHeadwater, until, type Headwater } from "./support/headwater.ts";
import { mainOf } from "./support/process-tree.ts";

const emitter = `
export default {
  name: "Emitter",
  props: { http: "$.interface.http" },
  run({ body }) { this.$emit({ n: body.n }); },
};`;
const answering = `
export default {
  name: "Answering",
  props: { http: { type: "$.interface.http", customResponse: true } },
  run() { this.http.respond({ status: 200, body: "at once" }); },
};`;

interface Created {
  readonly data: { readonly id: string; readonly configured_props: { readonly http: { readonly endpoint_url: string } } };
}
interface Me {
  readonly data: {
    readonly id: string;
    readonly daily_invocations_quota: number;
    readonly daily_invocations_used: number;
    readonly quota_exceeded_until?: number;
  };
}
interface Summaries {
  readonly data: readonly { readonly event: { readonly n: number } }[];
}

const token = randomBytes(32).toString("hex");
let directory: TemporaryDirectory;
let ports: { readonly api: number; readonly ingress: number };
let headwater: Headwater;

async function start(): Promise<void> {
  const env = { HEADWATER_ADMIN_TOKEN_FILE: join(directory.path, "admin-token") };
  headwater = await startHeadwater({ dataDirectory: join(directory.path, "data"), env, ports });
}

beforeAll(async () => {
  directory = await temporaryDirectory("quotas");
  await writeFile(join(directory.path, "admin-token"), token, { mode: 0o600 });
  ports = { api: await steadyPort(), ingress: await steadyPort() };
  await start();
});
afterAll(async () => {
  expect(await headwater.stop()).toBe(0);
  await directory.remove();
});

async function admin(path: string, body: object): Promise<void> {
  const response = await fetch(headwater.apiUrl.replace("/v1", `/admin/v1${path}`), {
    method: "PUT",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.status, await response.text()).toBe(200);
}

const me = async () => (await headwater.call<Me>("GET", "/users/me")).body.data;
const used = async () => (await me()).daily_invocations_used;
const plan = (quota: number) => admin("/plans/tried", { form: "free", daily_invocations_quota: quota });

async function deploy(code: string): Promise<{ readonly id: string; readonly endpoint: string }> {
  const { status, body, text } = await headwater.call<Created>("POST", "/sources", { component_code: code });
  expect(status, text).toBe(200);
  return { id: body.data.id, endpoint: body.data.configured_props.http.endpoint_url };
}

const post = (endpoint: string, n: number): Promise<Response> =>
  fetch(endpoint, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ n }) });

async function postAll(endpoint: string, ns: readonly number[]): Promise<void> {
  for (const n of ns) expect((await post(endpoint, n)).status).toBe(200);
}

it("parks a source that exceeds its quota, even across a crash, until the plan is raised", async () => {
  const source = await deploy(emitter);
  const answers = await deploy(answering);
  const emitted = async (): Promise<readonly number[]> =>
    (await headwater.call<Summaries>("GET", `/sources/${source.id}/event_summaries?limit=100`)).body.data.map(({ event }) => event.n);
  const isRefused = async (): Promise<boolean> => (await post(answers.endpoint, 0)).status === 429;
  await plan(3);
  await admin(`/users/${(await me()).id}/plan`, { plan: "tried" });
  await postAll(source.endpoint, [1, 2, 3]);
  await until(async () => (await me()).quota_exceeded_until !== undefined, "the quota is used up", 60_000, headwater.output);
  await until(() => headwater.output().includes("owner.park"), "the runner has parked the owner", 60_000, headwater.output);
  const usedUp = await used();
  await postAll(source.endpoint, [4, 5, 6]);
  const refused = await post(answers.endpoint, 0);
  expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([429, true]);
  expect(await refused.json()).toMatchObject({ code: "quota_exceeded" });
  expect((await headwater.call("POST", `/sources/${source.id}/runs`, {})).status).toBe(429);
  process.kill(mainOf(headwater.dataDirectory), "SIGKILL");
  await start();
  await postAll(source.endpoint, [7, 8]);
  await until(isRefused, "the new runner has parked the owner", 60_000, headwater.output);
  expect([(await emitted()).toSorted(), await used()]).toEqual([[1, 2, 3], usedUp]);
  await plan(1_000);
  await until(async () => (await emitted()).length === 8, "the queued invocations have run", 120_000, headwater.output);
  expect((await emitted()).toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  await until(async () => (await used()) === usedUp + 5, "each run is counted once", 60_000, headwater.output);
  expect(await me()).not.toHaveProperty("quota_exceeded_until");
  expect(await (await post(answers.endpoint, 0)).text()).toBe("at once");
});
