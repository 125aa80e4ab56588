import { expect, it } from "vitest";
import { deadLetter, redelivery } from "../../../delivery/record/dead-letter.ts";
import type { Delivery } from "../../../delivery/routing/delivery.ts";

const event = {
  emitId: "e1",
  eventId: "1700000000000-0",
  source: "dc_1",
  owner: "u_1",
  channel: "news",
  dedupeId: "7",
  summary: "seven",
  ts: 7,
  deliverAt: 9,
  hops: 2,
  way: ["dc_0"],
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  tracestate: "theirs=1",
  replay: { id: "rp_1", at: 8, listener: "wh_1" },
  payload: '{"a":1}',
};
const delivery: Delivery = { id: "e1.sub_1", subscription: "sub_1", listener: "wh_1", event, attempt: 10 };

/** Including its hops: the error event of a disabled webhook must not circulate forever. */
it("restores the whole delivery for a redelivery", () => {
  const letter = JSON.parse(JSON.stringify(deadLetter(delivery, "busy", 10)));
  expect(redelivery(letter)).toEqual({ ...delivery, attempt: 11, attemptsBefore: 10 });
});

it("restores a dead letter of an earlier version from the fields that it has", () => {
  const { carried: _, ...letter } = deadLetter(delivery, "busy", 10);
  const { emitId, eventId, source, owner, channel, payload } = event;
  expect(redelivery(letter).event).toEqual({ emitId, eventId, source, owner, channel, payload, ts: 1_700_000_000_000 });
});
