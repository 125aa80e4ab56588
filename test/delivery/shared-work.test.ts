import { expect, it } from "vitest";
import { Unavailable } from "../../domain/errors.ts";
import type { PartitionReading } from "../../delivery/routing/ports.ts";
import { shareWork, type SharedWorkParts } from "../../delivery/shared-work.ts";
import { partitionCount } from "../../domain/subjects.ts";
import { until } from "../support/until.ts";

/** Work on all partitions, with queues that are counted. `open`: by partition, the number of its queues that are open. */
function world(routing: Pick<PartitionReading, "open">) {
  const open = new Map<number, number>();
  const count = (partition: number, change: number): void => void open.set(partition, (open.get(partition) ?? 0) + change);
  const done = (): Promise<void> => Promise.resolve();
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
        count(partition, 1);
        return { start: done, retire: () => undefined, stop: async () => count(partition, -1) };
      },
    },
    routing,
    recorder: { open: () => ({ close: done }) },
  } as unknown as SharedWorkParts; // All that it uses.
  return { parts, counts: () => [...open.values()] };
}

const ofAll = (count: number): readonly number[] => Array.from({ length: partitionCount }, () => count);

it("leaves no ordered queue of a partition open that cannot be routed: it would attempt beside those of the next try", async () => {
  let failures = partitionCount;
  const { parts, counts } = world({
    open: async () => {
      if (failures-- > 0) throw new Unavailable("NATS does not answer");
      return { close: () => Promise.resolve() };
    },
  });
  const share = await shareWork(parts);
  await until(() => share.opened.size === partitionCount, "all partitions are open");
  expect(counts()).toEqual(ofAll(1));
  await share.stop(AbortSignal.timeout(1_000));
});

it("stops the queues of a partition whose commits are never done, because another replica has stored events of a queue", async () => {
  const { parts, counts } = world({ open: async () => ({ close: () => new Promise<never>(() => undefined) }) });
  const share = await shareWork(parts);
  await share.untilOpen();
  await share.stop(AbortSignal.abort());
  await until(() => counts().every((count) => count === 0), "the queues are stopped");
});
