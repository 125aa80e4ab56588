import { expect, it } from "vitest";
import { withStandby } from "../../../runner/intake/standby.ts";
import type { Membership, RunnerReport } from "../../../runner/intake/ports.ts";

/** A runner `b` and the members that it was notified of. The test advances the clock and sends the heartbeats. */
async function start() {
  const seen: string[] = [];
  let [now, canRun] = [0, true];
  let join: Parameters<Membership["join"]>[1] | undefined;
  const inner = { join: (_runner: string, member: typeof join) => ((join = member), Promise.resolve()) } as unknown as Membership; // Only what withStandby calls.
  const membership = withStandby(
    inner,
    () => canRun,
    () => now,
  );
  const report = (): RunnerReport => ({ holds: [], backlog: { partitions: [], sources: [], owners: [] } });
  await membership.join("b", { onMembers: (runners) => seen.push(runners.join(" ")), report });
  return {
    seen,
    members: (...runners: string[]) => join?.onMembers(runners),
    become: (isAble: boolean) => (canRun = isAble),
    /** Sends a heartbeat each second. @returns whether the last one says that the runner retires */
    beat: (ms: number): boolean => {
      let last: RunnerReport | undefined;
      for (const end = now + ms; now < end; now += 1_000) last = join?.report();
      return last?.isRetiring === true;
    },
  };
}

it("includes this runner among the members before its first heartbeat arrives", async () => {
  const { seen, members, beat } = await start();
  members("a");
  members("a", "b");
  expect([beat(10_000), seen]).toEqual([false, ["a b", "a b"]]);
});

it("stands by after three seconds in which it cannot run, and returns when it can", async () => {
  const { seen, members, become, beat } = await start();
  members("a", "b", "c");
  become(false);
  expect([beat(3_000), seen]).toEqual([false, ["a b c"]]);
  expect([beat(2_000), seen]).toEqual([true, ["a b c", "a c"]]);
  members("a", "c"); // Its own heartbeat has arrived.
  become(true);
  expect([beat(1_000), seen]).toEqual([false, ["a b c", "a c", "a c", "a b c"]]);
});

it("keeps its partitions while there is no other runner", async () => {
  const { seen, members, become, beat } = await start();
  members("b");
  become(false);
  expect([beat(10_000), seen]).toEqual([false, ["b"]]);
  members("a", "b");
  expect([beat(1_000), seen]).toEqual([true, ["b", "a"]]);
});

it("returns when the other runners stand by as well, and stays active for a minute", async () => {
  const { seen, members, become, beat } = await start();
  members("a", "b");
  become(false);
  expect(beat(5_000)).toBe(true);
  members(); // The other runner stands by, too.
  expect(seen.at(-1)).toBe("b");
  members("a"); // It has returned for the same reason.
  expect([beat(50_000), seen.at(-1)]).toEqual([false, "a b"]);
  expect([beat(20_000), seen.at(-1)]).toEqual([true, "a"]);
});
