import { expect, it } from "vitest";
import type { WaitingEvents } from "../../../delivery/destinations/ports.ts";
import { WaitingShares } from "../../../delivery/destinations/waiting-shares.ts";

const queue = { workflow: "p_1", owner: "u_1" };
const kibibyte = 1_024;

function sharesOf(stored: WaitingEvents) {
  let reads = 0;
  const state = { stored };
  const shares = new WaitingShares({ waiting: async () => (reads++, state.stored) });
  return { shares, state, reads: () => reads };
}

it("lets 10,000 events wait for a workflow, and refuses the next with the name of the workflow", async () => {
  const { shares } = sharesOf({ usage: undefined, bytes: 0, counts: new Map([["p_1", 9_999]]) });
  expect(await shares.refusal(queue, 10)).toBeUndefined();
  // NATS has counted the event by now; the replica's own count is the same.
  expect(await sharesOf({ usage: undefined, bytes: 0, counts: new Map([["p_1", 10_000]]) }).shares.refusal(queue, 10)).toBe(
    "10000 events wait for workflow p_1, which is not active: activate it, then retry this delivery",
  );
});

it("lets an owner hold a quarter of the stream above half of it, and a thirty-second of a full one", async () => {
  const maxBytes = 64 * kibibyte;
  const refused = async (bytes: number, ofOwner: number) =>
    (await sharesOf({ usage: { bytes, maxBytes }, bytes: ofOwner, counts: new Map() }).shares.refusal(queue, 1)) !== undefined;
  expect(await refused(maxBytes / 2, maxBytes / 2)).toBe(false);
  expect(await refused(maxBytes / 2 + 1, maxBytes / 4 - kibibyte)).toBe(false);
  expect(await refused(maxBytes / 2 + 1, maxBytes / 4)).toBe(true);
  expect(await refused(maxBytes + 1, 1 * kibibyte)).toBe(false);
  expect(await refused(maxBytes + 1, 2 * kibibyte)).toBe(true);
});

it("asks NATS once for a burst, counts what it admits, and asks again before it refuses", async () => {
  const usage = { bytes: 33 * kibibyte, maxBytes: 64 * kibibyte };
  const { shares, state, reads } = sharesOf({ usage, bytes: 0, counts: new Map() });
  for (let n = 0; n < 16; n++) expect(await shares.refusal(queue, 1)).toBeUndefined();
  expect(reads()).toBe(1);
  state.stored = { usage, bytes: 16 * kibibyte, counts: new Map([["p_1", 16]]) };
  expect(await shares.refusal(queue, 1)).toContain("have 16384 bytes");
  expect(reads()).toBe(2);
  // The queue has been delivered in the meantime.
  state.stored = { usage, bytes: 0, counts: new Map() };
  expect(await shares.refusal(queue, 1)).toBeUndefined();
});
