import { expect, it } from "vitest";
import { Unavailable } from "../../domain/errors.ts";
import { shareWork, type SharedWorkParts } from "../../delivery/shared-work.ts";
import { aborted } from "../../domain/retry.ts";
import { partitionCount } from "../../domain/subjects.ts";
import { until } from "../support/until.ts";

/** Work on all partitions. `calls`: what is done for partition 0. */
function world(close: (signal?: AbortSignal) => Promise<void>, failures = 0) {
  const calls: string[] = [];
  const done = (): Promise<void> => Promise.resolve();
  const call = async (partition: number, name: string): Promise<void> => void (partition === 0 && calls.push(name));
  const parts = {
    ports: {
      replicas: {
        replica: "one",
        join: async ({ onMembers }: { readonly onMembers: (members: readonly string[]) => void }) => {
          onMembers(["one"]);
          return { reportSoon: () => undefined, report: done, retire: done, leave: done };
        },
        heldByOthers: async () => new Set(),
        isCurrent: () => true,
      },
      runs: { publishFloors: async () => true },
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    },
    ordered: {
      open: async (partition: number) => {
        await call(partition, "queues");
        if (partition === 0 && failures-- > 0) throw new Unavailable("NATS does not answer");
        return { retire: () => void call(partition, "retire"), stop: () => call(partition, "stop") };
      },
    },
    routing: {
      floor: async (partition: number) => {
        await call(partition, "floor");
        return { stream: "RUNS", seq: 0 };
      },
      open: async (partition: number) => {
        await call(partition, "read");
        return { close };
      },
    },
    recorder: { open: () => ({ close: done }) },
  } as unknown as SharedWorkParts; // All that it uses.
  return { parts, calls };
}

it("opens the queues of a partition between its floor and its first commit, which is not read if that fails", async () => {
  const { parts, calls } = world(() => Promise.resolve(), 1);
  const share = await shareWork(parts);
  await until(() => share.opened.size === partitionCount, "all partitions are open");
  expect(calls).toEqual(["floor", "queues", "floor", "queues", "read"]);
  await share.stop(AbortSignal.timeout(60_000));
  expect(calls.slice(5)).toEqual(["retire", "stop"]);
});

it("stops the queues of a partition whose commits are never done, because another replica has stored events of a queue", async () => {
  const { parts, calls } = world((signal) => (signal === undefined ? new Promise(() => undefined) : aborted(signal)));
  const share = await shareWork(parts);
  await share.untilOpen();
  await share.stop(AbortSignal.abort());
  await until(() => calls.includes("stop"), "the queues are stopped");
});
