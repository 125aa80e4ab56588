import { afterEach, expect, it } from "vitest";
import { emptyState, type WorkflowCommit } from "../../domain/run/commit.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import { partitionCount, runSubject, workflowRunSubject } from "../../domain/subjects.ts";
import { endMarker } from "../../domain/workflow/run-commit.ts";
import { committedStep, owner, subjectOf, workflow, workflowCommit } from "../domain/run/workflow-commits.ts";
import { withMigratedPostgres } from "../support/postgres.ts";
import type { Reading } from "../../delivery/routing/ports.ts";
import { withJetStream } from "./jetstream/support.ts";
import { until } from "../support/until.ts";
import { withDatabase, withHistory } from "./postgres/support.ts";
import { startCounting, TestClock } from "./quota-support.ts";

/** From messages on RUNS to rows in Postgres, by the recorders of two replicas that both read all partitions. */
const postgres = withMigratedPostgres();
const database = withDatabase("delivery", postgres);
const nats = withJetStream({ partitions: partitionCount });
const history = withHistory({}, postgres);
const all = { limit: 100, cursor: null } as const;

const running: Reading[] = [];
afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
});
const startRecorder = async () => void running.push(await startCounting(database, await nats.addConnection(), new TestClock()));

const publish = (subject: string, text: string) => nats.connection.publisher.publish(subject, text);
const commit = async (given: WorkflowCommit) => publish(subjectOf(given), JSON.stringify(given));

function commitsOf(id: string): readonly WorkflowCommit[] {
  const run = { ...workflowCommit().run, id };
  const first = { status: "running", number: 1, stepCount: 2, event: "{}" } as const;
  const second = { status: "succeeded", number: 2, stepCount: 2, step: committedStep({ name: "second", index: 1 }) } as const;
  return [workflowCommit({ run, workflow: first }), workflowCommit({ run, workflow: second })];
}

it("records runs that go side by side once, with two recorders, and skips their end markers", async () => {
  await startRecorder();
  const runs = Array.from({ length: 40 }, (_, n) => commitsOf(`r_side${n}`));
  for (const [first] of runs) if (first !== undefined) await commit(first);
  await startRecorder();
  for (const [, second] of runs)
    if (second !== undefined) {
      await commit(second);
      await publish(subjectOf(second), endMarker);
    }
  await until(async () => (await history.pageWorkflowRuns(workflow, { ...all, status: "succeeded" })).total === 40, "all runs have ended");
  for (const [first] of runs) {
    const found = await history.findWorkflowRun(workflow, first?.run.id ?? "");
    expect(found).toMatchObject({ computeMs: 40, stepsDone: 2, event: "{}" });
    expect(found?.attempts.map(({ name }) => name)).toEqual(["first", "second"]);
  }
  expect(await history.readUsage(owner, 1_699_920_000_000)).toEqual({ runs: 40, computeMs: 1_600 });
});

it("leaves out forged commits, and records those behind them", async () => {
  await startRecorder();
  const partition = partitionOf(workflow);
  const forged = workflowCommit({ run: { ...workflowCommit().run, id: "r_forged" } });
  const own = subjectOf(forged);
  const { workflow: progress, ...withoutProgress } = forged;
  const broken = (part: object) => publish(own, JSON.stringify({ ...forged, workflow: { ...progress, ...part } }));
  await publish(workflowRunSubject(partition, owner, workflow, "r_other"), JSON.stringify(forged));
  await publish(workflowRunSubject(partition, "u_other", workflow, "r_forged"), JSON.stringify(forged));
  await publish(runSubject(partition, owner, workflow), JSON.stringify(forged));
  await publish(own, JSON.stringify(withoutProgress));
  await publish(own, "{");
  await publish(own, "{}{}");
  await broken({ status: "finished" });
  await broken({ number: 0 });
  await broken({ number: 1e300 });
  await broken({ step: { ...committedStep(), attempt: 1e300 } });
  await broken({ step: null });
  await broken({ cause: { emitter: "dc_1", emitId: "a b" } });
  const source = { ...withoutProgress, source: "dc_forged", state: emptyState };
  await publish(runSubject(partitionOf("dc_forged"), owner, "dc_forged"), JSON.stringify({ ...source, workflow: progress }));
  const huge = "x".repeat(2_000_000);
  const step = committedStep({ inputs: huge, exports: huge });
  await commit(workflowCommit({ run: { ...forged.run, id: "r_valid" }, workflow: { status: "exited", reason: huge, event: huge, step } }));

  await until(async () => (await history.findWorkflowRun(workflow, "r_valid")) !== undefined, "the valid commit is recorded");
  const found = await history.findWorkflowRun(workflow, "r_valid");
  expect([found?.event, found?.reason?.length, found?.attempts[0]?.inputs]).toEqual([null, 4_096, null]);
  expect(await history.findWorkflowRun(workflow, "r_forged")).toBeUndefined();
  expect(await history.findWorkflowRun(workflow, "r_other")).toBeUndefined();
  expect(await history.pageRuns("dc_forged", all)).toMatchObject({ total: 0 });
});
