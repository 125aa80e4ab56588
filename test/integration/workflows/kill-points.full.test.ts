import { expect, it } from "vitest";
import { partitionCount } from "../../../domain/subjects.ts";
import { until } from "../../support/until.ts";
import type { WorkflowCommit } from "../../../domain/run/commit.ts";
import { withJetStream, withPoolRequests } from "../jetstream/support.ts";
import { endedBy, treeOf, withWorkflows, type StepCode } from "./support.ts";
import { executeStep, itemOf, wholeFlow } from "./whole-flow.ts";

/** A runner is killed at each execution, and at each commit, of a run that has all that a step may control. */
const nats = withJetStream({ partitions: partitionCount });
withPoolRequests(nats);
const { deploy, start, invoke, commits } = withWorkflows(nats);

const begin = (source: string): Promise<void> => invoke({ source, trigger: "http", event: {} });
const untilEnded = (workflow: string): Promise<void> =>
  until(
    async () => ["succeeded", "failed", "exited", "canceled"].includes((await commits(workflow)).at(-1)?.workflow.status ?? ""),
    "the run has ended",
  );

const codeOf =
  (executed: string[], hangsAt: number, ends: unknown[]): StepCode =>
  async ({ name, steps }) => {
    const item = itemOf(steps);
    executed.push(item === undefined ? name : `${name} ${item}`);
    if (executed.length === hangsAt) await new Promise(() => undefined);
    if (name === "last") ends.push(steps);
    return executeStep(name, steps, 1);
  };

/** A run without a kill: what is executed, and what its last step reads. */
async function runWhole(workflow: string): Promise<{ readonly executed: readonly string[]; readonly ends: readonly unknown[] }> {
  const executed: string[] = [];
  const ends: unknown[] = [];
  await deploy(treeOf(workflow, wholeFlow));
  const runner = await start(`r_${workflow}`, codeOf(executed, 0, ends));
  await begin(workflow);
  await untilEnded(workflow);
  await runner.stop(AbortSignal.timeout(500));
  return { executed, ends };
}

const committedSteps = async (workflow: string) => (await commits(workflow)).flatMap(endedBy);
const namesOf = (executed: readonly string[]): readonly string[] => executed.map((text) => text.split(" ")[0] ?? "").toSorted();

it("goes on behind the last commit of each branch, whichever execution its runner is killed in", async () => {
  const whole = await runWhole("p_kill0");
  for (let at = 1; at <= whole.executed.length; at++) {
    const workflow = `p_kill${at}`;
    const executed: string[] = [];
    const ends: unknown[] = [];
    await deploy(treeOf(workflow, wholeFlow));
    const killed = await start(`r_killed${at}`, codeOf(executed, at, ends));
    await begin(workflow);
    await until(() => executed.length >= at, `execution ${at}`);
    await killed.stop(AbortSignal.abort());
    const committed = await committedSteps(workflow);
    const next = await start(`r_next${at}`, codeOf(executed, 0, ends));
    await untilEnded(workflow);
    await next.stop(AbortSignal.timeout(500));
    expect(ends.map(withoutContext)).toEqual(whole.ends.map(withoutContext));
    // What was not committed has run again: at most what was under way.
    const again = executed.length - whole.executed.length;
    expect(again).toBeGreaterThanOrEqual(0);
    expect(again).toBeLessThanOrEqual(whole.executed.length - committed.length);
    expect((await committedSteps(workflow)).map(({ name }) => name).toSorted()).toEqual(namesOf(whole.executed));
  }
});

it("goes on behind a commit of which its runner was killed before it knew", async () => {
  const whole = await runWhole("p_stored0");
  const count = (await commits("p_stored0")).at(-1)?.workflow.number ?? 0;
  for (let at = 1; at < count; at++) {
    const workflow = `p_stored${at}`;
    const executed: string[] = [];
    const ends: unknown[] = [];
    const { promise: isStored, resolve } = Promise.withResolvers<void>();
    await deploy(treeOf(workflow, wholeFlow));
    const killed = await start(`r_stored${at}`, codeOf(executed, 0, ends), [], (store) => ({
      ...store,
      append: async (owner, history, text, ...expected) => {
        const appended = await store.append(owner, history, text, ...expected);
        if ((JSON.parse(text) as WorkflowCommit).workflow.number < at) return appended; // Written by the runner from a typed value.
        resolve();
        return new Promise(() => undefined);
      },
    }));
    await begin(workflow);
    await isStored;
    await killed.stop(AbortSignal.abort());
    const committed = await committedSteps(workflow);
    const next = await start(`r_after${at}`, codeOf(executed, 0, ends));
    await untilEnded(workflow);
    await next.stop(AbortSignal.timeout(500));
    expect(ends.map(withoutContext)).toEqual(whole.ends.map(withoutContext));
    expect(executed.length - whole.executed.length).toBeLessThanOrEqual(whole.executed.length - committed.length);
    expect((await committedSteps(workflow)).map(({ name }) => name).toSorted()).toEqual(namesOf(whole.executed));
  }
});

/** The event has times of its own. */
const withoutContext = (steps: unknown): unknown => ({ ...(steps as object), trigger: undefined });
