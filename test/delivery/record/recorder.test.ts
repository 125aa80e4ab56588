import { expect, it } from "vitest";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import type { Commit } from "../../../domain/run/commit.ts";
import { partitionCount, runSubject } from "../../../domain/subjects.ts";
import { Recorder } from "../../../delivery/record/recorder.ts";
import { until } from "../../support/until.ts";

const source = "dc_1";
const commit: Commit = {
  source,
  owner: "u_1",
  deployment: "d_1",
  run: { id: "r_1", trigger: "http", generation: 1, startedAt: 1, durationMs: 1, cpuMs: 1, result: null },
  events: [],
  logs: [],
  error: null,
  state: { db: {}, dedupe: { strategy: "none" }, lastEventId: null, hooks: {} },
};

/** A recorder of one partition, whose opening hands out these sequences, and a Postgres that answers when the test says so. */
function world(handedOut: readonly (readonly number[])[]) {
  const partition = partitionOf(source);
  const recorded: number[][] = [];
  const done: number[] = [];
  const { promise: isBack, resolve: comeBack } = Promise.withResolvers<void>();
  let opened = 0;
  const recorder = new Recorder({
    runs: {
      record: (onCommit) => ({
        open: async () => {
          for (const seq of handedOut[opened++] ?? [])
            onCommit(JSON.stringify(commit), seq, runSubject(partition, "u_1", source), () => done.push(seq));
          return { close: () => Promise.resolve() };
        },
        idle: () => Promise.resolve(),
        stop: () => Promise.resolve(),
      }),
    },
    history: {
      positions: async () => Array.from({ length: partitionCount }, () => 5),
      recordCommits: async (commits) => {
        await isBack;
        recorded.push(commits.map(({ seq }) => seq));
        return [];
      },
    },
    log: { warn: () => undefined },
  });
  for (const _ of handedOut) recorder.open(partition);
  return { recorder, recorded, done, comeBack, opened: () => opened };
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, n) => from + n);

it("records each commit once and in order, also if a partition is opened again while one is being written", async () => {
  const { recorder, recorded, done, comeBack, opened } = world([range(6, 9), range(6, 12)]);
  await until(() => opened() === 2, "both have read");
  comeBack();
  await until(() => done.length === 11, "all are recorded");
  expect(recorded).toEqual([[6], range(7, 12)]);
  await recorder.stop();
});

it("records in order what does not fit into one batch", async () => {
  const { recorder, recorded, done, comeBack, opened } = world([range(6, 706), range(6, 806)]);
  await until(() => opened() === 2, "both have read");
  comeBack();
  await until(() => done.length === 701 + 801, "all are recorded");
  expect(recorded.flat()).toEqual(range(6, 806));
  await recorder.stop();
});
