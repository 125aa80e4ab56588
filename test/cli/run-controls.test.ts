import { expect, it } from "vitest";
import { until } from "../support/until.ts";
import { withInstallation } from "./installation.ts";

/** `hw` about runs of workflows, on a running server. */
const headwater = withInstallation();
const step = (name: string, body: string) => ({
  name,
  component_code: `export default { type: "action", name: "A step", version: "1.0.0", async run({ steps, $ }) { ${body} } };`,
});

interface Answer<Data> {
  readonly data: Data;
}
interface Run {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
  readonly repeats: string | null;
}

async function create(name: string, steps: readonly object[]): Promise<string> {
  const { status, body, text } = await headwater.call<Answer<{ readonly id: string }>>("POST", "/workflows", { name, steps });
  expect(status, text).toBe(200);
  return body.data.id;
}
const start = async (id: string, event: object = {}): Promise<Run> =>
  (await headwater.call<Answer<Run>>("POST", `/workflows/${id}/runs`, { event })).body.data;
const runOf = async (id: string, run: string): Promise<Run> =>
  (await headwater.call<Answer<Run>>("GET", `/workflows/${id}/runs/${run}`)).body.data;

it("cancels and resumes runs that wait", async () => {
  const id = await create("hw-waits", [step("ask", "$.flow.suspend()"), step("after", "return steps.ask.$resume_data.body")]);
  const [first, second] = [await start(id), await start(id)];
  expect(await headwater.ok("cancel", id, first.id, "--reason", "wrong customer")).toContain(`run ${first.id} is canceled`);
  expect((await runOf(id, first.id)).reason).toBe("wrong customer");
  await headwater.ok("resume", id, "--run", second.id, "--data", '{"approved":true}');
  await until(async () => (await runOf(id, second.id)).status === "succeeded", "it has ended");
  const paused = await headwater.hw("pause", id, "--run", second.id);
  expect([paused.code, paused.stderr]).toEqual([4, expect.stringContaining(`run ${second.id} has ended as succeeded`)]);
  const two = await headwater.hw("pause", id, "other", "--run", second.id);
  expect([two.code, two.stderr]).toEqual([2, expect.stringContaining("--run is for one workflow")]);
});

it("repeats one run, and all that failed", async () => {
  const id = await create("hw-fails", [
    step("one", "return 41"),
    step("two", "if (steps.trigger.event.fails) throw new Error('no stock')"),
  ]);
  const failed = [await start(id, { fails: true }), await start(id, { fails: true })];
  const [first] = failed;
  const again = await headwater.json<Answer<Run>>("repeat", id, first?.id ?? "", "--event", '{"fails":false}');
  expect(again.data).toMatchObject({ status: "succeeded", repeats: first?.id });
  const dry = await headwater.ok("repeat", id, "--since", "1h", "--dry-run");
  expect(dry.trim().split("\n")).toEqual(failed.map((run) => `${run.id} would be repeated`));
  const { data } = await headwater.json<Answer<{ readonly repeated: readonly { readonly run_id: string; readonly id: string }[] }>>(
    "repeat",
    id,
  );
  expect(data.repeated.map(({ run_id: run }) => run)).toEqual(failed.map((run) => run.id));
  expect(await headwater.ok("repeat", id, "--status", "canceled")).toContain("no run matches");
  for (const args of [
    ["--event", "{}"],
    ["--from", "two"],
  ])
    expect((await headwater.hw("repeat", id, ...args)).stderr).toContain("name the run");
});
