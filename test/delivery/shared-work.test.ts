import { expect, it } from "vitest";
import { Unavailable } from "../../domain/errors.ts";
import { shareWork, type SharedWorkParts } from "../../delivery/shared-work.ts";
import { partitionCount } from "../../domain/subjects.ts";
import { until } from "../support/until.ts";

it("leaves no ordered queue of a partition open that cannot be routed: it would attempt beside those of the next try", async () => {
  const open = new Map<number, number>();
  const count = (partition: number, change: number): void => void open.set(partition, (open.get(partition) ?? 0) + change);
  let failures = partitionCount;
  const parts = {
    ports: {
      replicas: {
        replica: "one",
        join: async ({ onMembers }: { readonly onMembers: (members: readonly string[]) => void }) => {
          onMembers(["one"]);
          const done = (): Promise<void> => Promise.resolve();
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
        return { start: () => Promise.resolve(), retire: () => undefined, stop: async () => count(partition, -1) };
      },
    },
    routing: {
      open: async () => {
        if (failures-- > 0) throw new Unavailable("NATS does not answer");
        return { close: () => Promise.resolve() };
      },
    },
    recorder: { open: () => ({ close: () => Promise.resolve() }) },
  } as unknown as SharedWorkParts; // All that it uses.
  const share = await shareWork(parts);
  await until(() => share.opened.size === partitionCount, "all partitions are open");
  expect([...open.values()]).toEqual(Array.from({ length: partitionCount }, () => 1));
  await share.stop(AbortSignal.timeout(1_000));
});
