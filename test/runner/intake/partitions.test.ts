import { expect, it } from "vitest";
import { defaultPool, partitionCount } from "../../../domain/subjects.ts";
import { Partitions } from "../../../runner/intake/partitions.ts";
import { largeBacklog } from "../large-backlog.ts";

const nothing = (): void => undefined;
const config = { runner: "r_1", pool: defaultPool, runTimeoutMs: 1_000, memoryMb: 64, historyBudgetBytes: 1_000 };

it("reads a partition again that could not be read, though no runner comes or goes", async () => {
  let isAway = false;
  let members: (runners: readonly string[]) => void = nothing;
  const read: number[] = [];
  const partitions = new Partitions(config, {
    intake: {
      read: (partition) => {
        if (isAway) return Promise.reject(new Error("the server is away"));
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
  await expect.poll(() => read.toSorted((a, b) => a - b), { timeout: 10_000 }).toEqual([...Array(partitionCount).keys()]);
  await partitions.stop(AbortSignal.timeout(1_000));
});
