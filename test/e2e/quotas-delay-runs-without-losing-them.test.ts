import { expect, it } from "vitest";
import { withSystem } from "../support/system/system.ts";
import { until } from "../support/until.ts";
import { deploy, postJson } from "../support/system/sources.ts";

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

const headwater = withSystem();
const planName = `tried-${process.pid}`;

async function admin(path: string, body: object): Promise<void> {
  const { status, text } = await headwater.asAdmin("PUT", path, body);
  expect(status, text).toBe(200);
}

const me = async () => (await headwater.call<Me>("GET", "/users/me")).body.data;
const used = async () => (await me()).daily_invocations_used;
const plan = (quota: number) => admin(`/plans/${planName}`, { form: "free", daily_invocations_quota: quota });

it("parks a source that exceeds its quota until the plan is raised", async () => {
  const source = await deploy(headwater, emitter);
  const answers = await deploy(headwater, answering);
  const emitted = async (): Promise<readonly number[]> =>
    (await headwater.call<Summaries>("GET", `/sources/${source.id}/event_summaries?limit=100`)).body.data.map(({ event }) => event.n);
  const parked = async (): Promise<number> => {
    const metrics = await (await fetch(new URL("/metrics", headwater.apiUrl))).text();
    return Number(/^headwater_runs_parked\{pool="default",reason="owner_quota"\} (\d+)$/m.exec(metrics)?.[1]);
  };
  let [posted, answered] = [0, 0];
  const post = async (): Promise<void> => {
    expect((await postJson(source.endpoint, { n: ++posted })).status).toBe(200);
  };
  const isRefused = async (): Promise<boolean> => {
    const { status } = await postJson(answers.endpoint, { n: 0 });
    if (status === 200) answered++;
    return status === 429;
  };
  await plan(3);
  await admin(`/users/${(await me()).id}/plan`, { plan: planName });
  for (let n = 1; n <= 3; n++) await post();
  await until(async () => (await me()).quota_exceeded_until !== undefined, "the quota is used up");
  await until(isRefused, "the ingress refuses what would wait for a response");
  // Ingress and runner learn of it at their own times: an event more may run before the runner does.
  await until(async () => {
    await post();
    return (await parked()) > 0;
  }, "the runner has parked the source");
  const postedBefore = posted;
  for (let n = 1; n <= 3; n++) await post();
  const refused = await postJson(answers.endpoint, { n: 0 });
  expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([429, true]);
  expect(await refused.json()).toMatchObject({ code: "quota_exceeded" });
  expect((await headwater.call("POST", `/sources/${source.id}/runs`, {})).status).toBe(429);
  expect((await emitted()).filter((n) => n > postedBefore)).toEqual([]);
  await plan(1_000);
  await until(async () => (await emitted()).length === posted, "the queued invocations have run");
  expect((await emitted()).toSorted((one, other) => one - other)).toEqual(Array.from({ length: posted }, (_, n) => n + 1));
  await until(async () => (await used()) === posted + answered, "each run is counted once");
  expect(await me()).not.toHaveProperty("quota_exceeded_until");
  expect(await (await postJson(answers.endpoint, { n: 0 })).text()).toBe("at once");
});
