import { expect, it } from "vitest";
import { partitionCount } from "../../../domain/subjects.ts";
import { Partitions } from "../../../runner/intake/partitions.ts";
import { largeBacklog, runnerConfig } from "../support.ts";

const nothing = (): void => undefined;

it("retries a partition that could not be read, without a change of the runners", async () => {
  let isAway = false;
  let members: (runners: readonly string[]) => void = nothing;
  const read: number[] = [];
  const partitions = new Partitions(runnerConfig, {
    intake: {
      read: (partition) => {
        if (isAway) return Promise.reject(new Error("NATS is down"));
        read.push(partition);
        return Promise.resolve({ stop: () => Promise.resolve(), unread: () => 0, resume: nothing });
      },
    },
    backlog: largeBacklog(),
    membership: {
      join: (runner, { onMembers }) => {
        members = onMembers;
        onMembers([runner, "r_2", "r_3"]);
        return Promise.resolve({
          leave: () => Promise.resolve(),
          retire: () => Promise.resolve(),
          report: () => Promise.resolve(),
          reportSoon: nothing,
        });
      },
      heldByOthers: () => Promise.resolve(new Set()),
    },
    log: { info: nothing, warn: nothing, error: nothing },
    release: () => Promise.resolve(),
    onMessage: nothing,
  });
  await partitions.start();
  expect(read.length).toBeLessThan(partitionCount);
  isAway = true;
  members(["r_1"]);
  await new Promise((resolve) => setImmediate(resolve));
  isAway = false;
  await expect.poll(() => read.toSorted((a, b) => a - b)).toEqual([...Array(partitionCount).keys()]);
  await partitions.stop(AbortSignal.timeout(1_000));
});
