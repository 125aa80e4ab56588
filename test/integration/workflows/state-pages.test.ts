import { describe, expect, it } from "vitest";
import type { Invocation } from "../../../domain/invocation/invocation.ts";
import { filesOfRun, partitionCount, streams } from "../../../domain/subjects.ts";
import type { WorkflowCommit } from "../../../domain/run/commit.ts";
import { suspensionsOf } from "../../../runner/workflow/branches.ts";
import { withJetStream, withPoolRequests } from "../jetstream/support.ts";
import { until } from "../../support/until.ts";
import { owner, returned, treeOf, withWorkflows, workflowOf } from "./support.ts";

/** Runs whose state is too large for a commit, on real streams. */
const nats = withJetStream({ partitions: partitionCount });
withPoolRequests(nats);
let [refuses, refused] = [false, 0];
const reserve = async () => {
  if (!refuses) return { release: () => undefined };
  refused++;
  return { refusal: "the share of files is full" };
};
const { deploy, start, invoke, commits } = withWorkflows(nats, reserve);

const big = (letter: string): string => letter.repeat(300_000);
const bytesOf = (commit: WorkflowCommit): number => Buffer.byteLength(JSON.stringify(commit));
const begin = (source: string): Promise<void> => invoke({ source, trigger: "http", event: { body: "e".repeat(200_000) } });
const untilEnded = async (workflow: string): Promise<readonly WorkflowCommit[]> => {
  const isEnded = async () => ["succeeded", "failed", "canceled"].includes((await commits(workflow)).at(-1)?.workflow.status ?? "");
  await until(isEnded, "the run has ended");
  return commits(workflow);
};

it("stores each large text of a run once, and each step reads them all", async () => {
  await deploy(workflowOf("p_pages", ["a", "b", "c", "d"]));
  const read: Record<string, unknown> = {};
  await start("r_pages", ({ name, steps }) => {
    read[name] = Object.values(steps).map(({ $return_value: value }) => (typeof value === "string" ? value.length : 0));
    return returned(big(name));
  });
  await begin("p_pages");
  const stored = await untilEnded("p_pages");
  expect(stored.map(({ workflow: { step, status } }) => [step?.name, status])).toEqual([
    ["a", "running"],
    ["b", "running"],
    ["c", "running"],
    ["d", "succeeded"],
  ]);
  const [, ...sizes] = read["d"] as readonly number[];
  expect(sizes).toEqual([300_000, 300_000, 300_000]);
  // What a step has returned is in its own commit, and the event in the first.
  const [first, second, third, last] = stored.map((commit) => Math.floor(bytesOf(commit) / 100_000));
  expect([first, second, third, last]).toEqual([5, 3, 3, 0]);
  const { state } = await nats.connection.manager.streams.info(streams.files, {
    subjects_filter: filesOfRun(owner, "p_pages", stored[0]?.run.id ?? ""),
  });
  // The event and what two steps have returned: no commit follows in which what the third one has returned is needed.
  expect(Object.keys(state.subjects ?? {})).toHaveLength(3);
});

it("goes on in another runner with all that earlier steps have exported", async () => {
  await deploy(workflowOf("p_moved", ["a", "wait", "c"]));
  const lengths: number[] = [];
  const code = ({ name, steps }: { readonly name: string; readonly steps: Record<string, Record<string, unknown>> }) => {
    if (name === "c") lengths.push(...["a", "wait"].map((each) => String(steps[each]?.["$return_value"]).length));
    return returned(big(name), name === "wait" ? { flow: { kind: "suspend", ms: null } } : {});
  };
  const first = await start("r_first", code);
  await begin("p_moved");
  await until(async () => (await commits("p_moved")).at(-1)?.workflow.status === "suspended", "it is suspended");
  await first.stop(AbortSignal.abort());
  await start("r_second", code);
  const run = (await commits("p_moved"))[0]?.run.id ?? "";
  await invoke({ source: "p_moved", trigger: "resume", event: null, resume: { run, suspension: 1, action: "resume" } });
  await untilEnded("p_moved");
  expect(lengths).toEqual([300_000, 300_000 * "wait".length]);
});

it("stores results of a loop in pages of many, and gives them in order", async () => {
  await deploy(treeOf("p_looped", [{ name: "each", forEach: "{{ 1 }}", concurrency: 4, steps: [{ name: "act" }] }, { name: "last" }]));
  let seen: readonly string[] = [];
  const items = Array.from({ length: 300 }, (_, index) => index);
  await start("r_looped", ({ name, steps }) => {
    if (name === "each") return returned(items);
    if (name === "last") seen = steps["each"]?.["$results"] as readonly string[];
    return returned(name === "act" ? `${String(steps["item"]?.["item"])} ${"x".repeat(2_000)}` : 1);
  });
  await begin("p_looped");
  const stored = await untilEnded("p_looped");
  expect(seen.map((text) => Number(text.split(" ")[0]))).toEqual(items);
  // Without pages, the last items would have the event and all results: 800,000. With the end of the loop, they become a new text.
  expect(Math.max(...stored.slice(0, -2).map(bytesOf))).toBeLessThan(450_000);
});

it("stores a large state in its commits while there is no room for pages, and asks once", async () => {
  [refuses, refused] = [true, 0];
  await deploy(workflowOf("p_noroom", ["a", "b", "c", "d"]));
  const lengths: number[] = [];
  await start("r_noroom", ({ name, steps }) => {
    lengths.push(String(steps["a"]?.["$return_value"]).length);
    return returned(big(name));
  });
  await begin("p_noroom");
  const stored = await untilEnded("p_noroom");
  refuses = false;
  expect([stored.at(-1)?.workflow.status, lengths.slice(1), refused]).toEqual(["succeeded", [300_000, 300_000, 300_000], 1]);
  expect(stored.map((commit) => Math.floor(bytesOf(commit) / 100_000))).toEqual([5, 8, 11, 0]);
});

describe("a run whose pages are gone", () => {
  const call = { name: "call", workflow: "p_other", wait: true };
  const branches = { name: "fork", parallel: [[{ name: "x" }], [{ name: "y" }, { name: "wait" }], [call]] };
  /** Two of its large texts are pages when it waits in a branch. */
  async function suspended(workflow: string): Promise<string> {
    await deploy(treeOf(workflow, [{ name: "a" }, { name: "b" }, branches, { name: "after" }]));
    const code = ({ name }: { readonly name: string }) =>
      returned(name === "fork" ? null : big(name), name === "wait" ? { flow: { kind: "suspend", ms: null } } : {});
    const first = await start(`r_${workflow}`, code);
    await begin(workflow);
    await until(async () => (await commits(workflow)).at(-1)?.workflow.status === "suspended", "it is suspended");
    await first.stop(AbortSignal.abort());
    const run = (await commits(workflow))[0]?.run.id ?? "";
    const { purged } = await nats.connection.manager.streams.purge(streams.files, { filter: filesOfRun(owner, workflow, run) });
    expect(purged).toBeGreaterThan(1);
    await start(`r_later_${workflow}`, () => {
      throw new Error("no step runs");
    });
    return run;
  }

  it("fails when it goes on, and says what to do", async () => {
    const run = await suspended("p_gone");
    const suspension = suspensionsOf((await commits("p_gone")).at(-1)?.state ?? { suspension: null })[0]?.number ?? 0;
    await invoke({ source: "p_gone", trigger: "resume", event: null, resume: { run, suspension, action: "resume" } });
    const last = (await untilEnded("p_gone")).at(-1);
    expect([last?.workflow.status, last?.error?.code, last?.workflow.failedStep?.name]).toEqual(["failed", "state_gone", "fork"]);
    expect(last?.error?.message).toContain("run it again with its event");
  });

  it("can be canceled", async () => {
    const run = await suspended("p_gonecancel");
    await invoke({
      source: "p_gonecancel",
      trigger: "control",
      event: null,
      control: { run, action: "cancel", reason: "enough" },
    } as Invocation);
    const last = (await untilEnded("p_gonecancel")).at(-1);
    expect([last?.workflow.status, last?.workflow.reason]).toEqual(["canceled", "enough"]);
    expect(last?.workflow.cancels).toEqual([{ workflow: "p_other", run: expect.any(String) }]);
  });
});

it("counts pages over all rounds of a loop that waits in each", async () => {
  await deploy(treeOf("p_rounds", [{ name: "again", while: "{{ 1 }}", steps: [{ name: "fill" }, { name: "keep" }, { name: "wait" }] }]));
  let rounds = 0;
  await start("r_rounds", ({ name }) => {
    if (name === "again") return returned(++rounds <= 3);
    return returned(name === "wait" ? 1 : `${rounds} ${big(name)}`, name === "wait" ? { flow: { kind: "delay", ms: 1 } } : {});
  });
  await begin("p_rounds");
  const stored = await untilEnded("p_rounds");
  const paged = stored.map(({ state }) => (state as { readonly pagedBytes?: number }).pagedBytes ?? 0);
  // What has been stored counts also when the state is small again; that of an ended run has no number.
  expect(paged.slice(0, -1)).toEqual(paged.slice(0, -1).toSorted((one, other) => one - other));
  expect(paged.at(-2)).toBeGreaterThan(3 * 1_200_000);
});
