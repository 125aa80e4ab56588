import { expect, test } from "vitest";
import type { Answer } from "../../../domain/invocation/invocation.ts";
import { streams } from "../../../domain/subjects.ts";
import { RunAnswers, sendAnswer } from "../../../platform/jetstream/requests/run-answers.ts";
import { appendCommit, deleteCommits, lastCommit } from "../../../platform/jetstream/runs/commits.ts";
import { statePosition } from "../../../platform/jetstream/runs/state-position.ts";
import { withJetStream } from "./support.ts";
import { until } from "../../support/until.ts";

const nats = withJetStream();
const ref = { partition: 3, owner: "u_1", source: "dc_1" };

/** Removes all of RUNS once STATE has copied it. */
async function trim(): Promise<void> {
  const { streams: stored } = nats.connection.manager;
  const { last_seq } = (await stored.info(streams.runs)).state;
  await until(async () => (await statePosition(nats.connection)) === last_seq, "STATE has every commit");
  await stored.purge(streams.runs, { seq: last_seq + 1 });
}

test("a history has one writer at a time and outlives the stream of runs", async () => {
  expect(await lastCommit(nats.connection, ref)).toEqual({ text: undefined, sequence: 0 });
  const first = await appendCommit(nats.connection, ref, "one", 0);
  expect(await appendCommit(nats.connection, ref, "other", 0)).toEqual({ outcome: "refused" });
  expect(first).toEqual({ outcome: "stored", sequence: 1 });
  expect(await appendCommit(nats.connection, ref, "two", 1)).toEqual({ outcome: "stored", sequence: 2 });
  expect(await lastCommit(nats.connection, ref)).toEqual({ text: "two", sequence: 2 });
  await trim();
  expect(await lastCommit(nats.connection, ref)).toEqual({ text: "two", sequence: 2 });
  expect(await appendCommit(nats.connection, ref, "three", 1)).toEqual({ outcome: "refused" });
  expect(await appendCommit(nats.connection, ref, "three", 2)).toEqual({ outcome: "stored", sequence: 3 });
  expect(await appendCommit(nats.connection, ref, "other", 2)).toEqual({ outcome: "refused" });
  await trim();
  expect(await appendCommit(nats.connection, ref, "other", 2)).toEqual({ outcome: "refused" });
  expect(await appendCommit(nats.connection, ref, "other", 0)).toEqual({ outcome: "refused" });
  expect(await appendCommit(nats.connection, ref, "four", 3)).toEqual({ outcome: "stored", sequence: 4 });
  await deleteCommits(nats.connection, ref);
  await until(async () => (await lastCommit(nats.connection, ref)).text === undefined, "forgotten");
});

test("after kill -9 right after a commit the newer of RUNS and STATE is used", async () => {
  const source = { ...ref, source: "dc_2" };
  let sequence = 0;
  for (let i = 1; i <= 50; i++) {
    const appended = await appendCommit(nats.connection, source, String(i), sequence);
    if (appended.outcome === "stored") ({ sequence } = appended);
  }
  await nats.server.crash();
  await until(async () => (await lastCommit(nats.connection, source).catch(() => undefined))?.text === "50", "the last commit");
  await trim();
  expect((await lastCommit(nats.connection, source)).text).toBe("50");
});

test("a caller receives the response of its run and no other, and stops waiting when its signal aborts", async () => {
  const answers = new RunAnswers(nats.connection);
  answers.start();
  const response: Answer = { kind: "response", response: { status: 201, headers: {}, body: "hi" } };
  const one = answers.wait("r_1", "response", AbortSignal.timeout(120_000));
  const two = answers.wait("r_2", "response", AbortSignal.timeout(200));
  sendAnswer(await nats.addConnection(), one.subject, response);
  expect(await one.answer).toEqual(response);
  expect(await two.answer).toBeUndefined();
  expect(await answers.wait("r_3", "run", AbortSignal.abort()).answer).toBeUndefined();
  answers.stop();
});
