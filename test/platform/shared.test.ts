import { expect, it } from "vitest";
import { Shared } from "../../platform/process/shared.ts";

function counted() {
  const log: string[] = [];
  const shared = new Shared<string, number>(async (value) => void log.push(`close ${value}`));
  let opened = 0;
  const open = async (): Promise<number> => {
    log.push(`open ${++opened}`);
    return opened;
  };
  return { log, shared, open };
}

it("opens once for concurrent users, and closes after the last one releases it", async () => {
  const { log, shared, open } = counted();
  const [one, two] = await Promise.all([shared.use("a", open), shared.use("a", open)]);
  expect([one.value, two.value, await shared.all()]).toEqual([1, 1, [1]]);
  await one.release();
  expect(log).toEqual(["open 1"]);
  await two.release();
  expect(log).toEqual(["open 1", "close 1"]);
  expect(shared.find("a")).toBeUndefined();
});

it("opens again after it was closed, and separately for each key", async () => {
  const { log, shared, open } = counted();
  await (await shared.use("a", open)).release();
  await Promise.all([shared.use("a", open), shared.use("b", open)]);
  expect(log).toEqual(["open 1", "close 1", "open 2", "open 3"]);
});

it("rejects all waiting callers when it cannot be opened, and tries again for the next one", async () => {
  const { log, shared, open } = counted();
  const fail = (): Promise<number> => Promise.reject(new Error("no"));
  const both = await Promise.allSettled([shared.use("a", fail), shared.use("a", fail)]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await (await shared.use("a", open)).release();
  expect(log).toEqual(["open 1", "close 1"]);
});
