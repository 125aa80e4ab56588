import { afterAll, beforeAll, expect, it } from "vitest";
import type { Answer } from "../../../domain/invocation/invocation.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { pause } from "../../../domain/retry.ts";
import { defaultPool, deploymentKey, partitionCount, runSubject, streams } from "../../../domain/subjects.ts";
import { workflowEntries } from "../../../platform/jetstream/invocations/moves.ts";
import { deleteCommits } from "../../../platform/jetstream/runs/commits.ts";
import { trimRuns } from "../../../platform/jetstream/runs/trim-runs.ts";
import { readinessChecks } from "../../../platform/telemetry/readiness.ts";
import { withJetStream, withPoolRequests } from "../jetstream/support.ts";
import { until } from "../../support/until.ts";
import { owner, returned, withWorkflows, workflowOf } from "./support.ts";

/** A small store: STATE has 4.8 MB of it, and RUNS 10 MB. */
const storeBytes = 30_000_000;
/** A commit of a step has its result twice: as the step's, and in the state of the run. */
const runBytes = 350_000;
const suspend = { flow: { kind: "suspend", ms: 3_600_000 } } as const;

const nats = withJetStream({ partitions: partitionCount, storeBytes }, { maxFileStoreBytes: 2 * storeBytes });
withPoolRequests(nats);
const { deploy, start, invoke } = withWorkflows(nats);

/** Delivery processes all commits at once. */
const trimming = new AbortController();
let trimmed: Promise<void>;
beforeAll(() => {
  trimmed = (async () => {
    while (!trimming.signal.aborted) {
      await trimRuns(nats.connection, (upTo) => Promise.resolve(upTo), { bytes: 0 });
      await pause(20, trimming.signal);
    }
  })();
});
afterAll(async () => {
  trimming.abort();
  await trimmed;
});

const lastOf = async (workflow: string, by = owner): Promise<readonly Record<string, unknown>[]> => {
  const filter = `${runSubject(partitionOf(workflow), by, workflow)}.>`;
  const { state } = await nats.connection.manager.streams.info(streams.state, { subjects_filter: filter });
  const messages = Object.keys(state.subjects ?? {}).map((subject) =>
    nats.connection.manager.direct.getMessage(streams.state, { last_by_subj: subject }),
  );
  return (await Promise.all(messages)).flatMap((message) => (message === null ? [] : [message.json<Record<string, unknown>>()]));
};
const checkStore = async (): Promise<void> => {
  const check = readinessChecks(nats.connection, { db: undefined as never }).find(({ name }) => name === "store");
  await check?.check();
};
const suspendedOf = async (workflow: string, by = owner): Promise<number> =>
  (await lastOf(workflow, by)).filter(({ workflow: progress }) => isSuspended(progress)).length;
const isSuspended = (progress: unknown): boolean => (progress as { status?: string } | undefined)?.status === "suspended";

it("refuses suspended runs beyond the owner's share of STATE, with an error in the run, while runs of others go on", async () => {
  const answers: Answer[] = [];
  await deploy(workflowOf("p_large", ["ask", "decide"]));
  await deploy(workflowOf("p_quiet", ["ask", "decide"], { owner: "u_quiet" }));
  await start("r_shares", ({ name }) => returned(name === "ask" ? "x".repeat(runBytes) : 1, suspend), answers);
  for (let run = 0; run < 12; run++) await invoke({ source: "p_large", trigger: "manual", event: {}, answerTo: "answer.test.run" });
  await until(() => answers.length === 12, "each run is suspended or has failed");
  const errors = answers.flatMap((answer) => (answer.kind === "run" && answer.run.error !== null ? [answer.run.error] : []));
  expect(errors.length).toBeGreaterThanOrEqual(8);
  expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(["state_full"]));
  expect(errors[0]?.message).toMatch(/cancel suspended runs, delete workflows or sources, or store and export less$/u);
  await until(async () => (await suspendedOf("p_large")) === 12 - errors.length, "STATE has the suspended runs");
  await checkStore();
  await invoke({ source: "p_quiet", trigger: "manual", event: {}, answerTo: "answer.test.run" });
  await until(async () => (await suspendedOf("p_quiet", "u_quiet")) === 1, "the run of another owner is suspended");
  await checkStore();
});

it("stores runs of the owner again once others have ended", async () => {
  const answers: Answer[] = [];
  await deploy(workflowOf("p_again", ["ask", "decide"]));
  await start("r_again", () => returned("x".repeat(runBytes), suspend), answers);
  await workflowEntries(nats.connection).delete(deploymentKey(defaultPool, "p_large"));
  await deleteCommits(nats.connection, { owner, source: "p_large", partition: partitionOf("p_large") });
  await invoke({ source: "p_again", trigger: "manual", event: {}, answerTo: "answer.test.run" });
  await until(() => answers.length === 1, "the run is suspended");
  expect(answers[0]).toMatchObject({ kind: "run", run: { error: null } });
});
