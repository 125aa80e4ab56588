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

it("records a commit once that is handed out again before it is written, because its partition was opened again", async () => {
  const partition = partitionOf(source);
  const recorded: number[][] = [];
  const { promise: isBack, resolve: comeBack } = Promise.withResolvers<void>();
  let [opened, done] = [0, 0];
  const recorder = new Recorder({
    runs: {
      record: (onCommit) => ({
        open: async () => {
          const hand = (seq: number): void =>
            onCommit(JSON.stringify(commit), seq, runSubject(partition, "u_1", source), () => (done += 1));
          // While the first one is being written, the others wait for the next batch.
          if (opened === 0) hand(6);
          hand(7);
          opened += 1;
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
  recorder.open(partition);
  recorder.open(partition);
  await until(() => opened === 2, "both have read");
  comeBack();
  await until(() => done === 3, "all are recorded");
  expect(recorded).toEqual([[6], [7]]);
  await recorder.stop();
});
