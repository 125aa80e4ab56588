import { expect, it } from "vitest";
import type { OwnerUsage } from "../../../runner/commit/ports.ts";
import { noRoomForState, StreamShares } from "../../../runner/commit/stream-shares.ts";

function sharesOf(first: OwnerUsage) {
  const state = { usage: first, now: 0, reads: 0, readMs: 0, fails: false };
  const usage = async (): Promise<OwnerUsage> => {
    state.reads++;
    state.now += state.readMs;
    if (state.fails) throw new Error("delivery is not running");
    return state.usage;
  };
  return { state, shares: new StreamShares({ usage }, noRoomForState, () => state.now) };
}

const usageOf = (bytes: number, ofOwner?: number): OwnerUsage => ({ usage: { bytes, maxBytes: 1_000 }, bytes: ofOwner });
/** Stores the bytes if there is room. @returns why not */
async function store(shares: StreamShares, bytes: number): Promise<string | undefined> {
  const room = await shares.reserve("u_1", bytes);
  room.release?.();
  return room.refusal;
}

it("lets owners store without a count while STATE is at most half full, and asks again before it exceeds that", async () => {
  const { state, shares } = sharesOf(usageOf(300));
  expect(await store(shares, 100)).toBeUndefined();
  expect(await store(shares, 100)).toBeUndefined();
  expect(state.reads).toBe(1);
  state.usage = usageOf(500, 200);
  state.now = 300;
  expect(await store(shares, 1)).toBeUndefined();
  expect(state.reads).toBe(2);
  expect(await store(shares, 100)).toMatch(/hold 201 bytes of state, and with 100 more .* share, which is 250 bytes now/u);
});

it("lets an owner hold a quarter above half, and a thirty-second of a full STATE, beside an owner who holds more", async () => {
  const refused = async (bytes: number, ofOwner: number, more: number): Promise<boolean> =>
    (await store(sharesOf(usageOf(bytes, ofOwner)).shares, more)) !== undefined;
  expect(await refused(600, 200, 50)).toBe(false);
  expect(await refused(600, 200, 51)).toBe(true);
  expect(await refused(1_001, 0, 31)).toBe(false);
  expect(await refused(1_001, 0, 32)).toBe(true);
});

it("adds commits that are being stored to what NATS has counted, and those that STATE may not have copied yet", async () => {
  const { state, shares } = sharesOf(usageOf(600, 0));
  const rooms = await Promise.all(Array.from({ length: 5 }, () => shares.reserve("u_1", 100)));
  expect(rooms.map(({ refusal }) => refusal === undefined)).toEqual([true, true, false, false, false]);
  for (const { release } of rooms) release?.();
  expect(await store(shares, 100)).toBeDefined();
  state.now = 250;
  expect(await store(shares, 100)).toBeUndefined(); // Counted again: they were not stored, or are stored no more.
});

it("asks for at most a twentieth of the time while it refuses", async () => {
  const { state, shares } = sharesOf(usageOf(1_001, 500));
  state.readMs = 10;
  for (let n = 0; n < 50; n++) {
    expect(await store(shares, 1)).toBeDefined();
    state.now += 10;
  }
  expect(state.reads).toBeLessThanOrEqual(1 + 1_000 / 200);
});

it("refuses nothing while it cannot ask", async () => {
  const { state, shares } = sharesOf(usageOf(1_001, 500));
  state.fails = true;
  expect(await store(shares, 1)).toBeUndefined();
});
