import { expect, it } from "vitest";
import { deliverAsInvocation } from "../../../delivery/destinations/invocation.ts";
import type { Delivery } from "../../../delivery/routing/delivery.ts";
import { AdmissionGate, defaultBacklogLimits } from "../../../domain/limits/admission.ts";
import { systemClock } from "../../../domain/clock.ts";
import { decodePack, encodePack, type Invocation } from "../../../domain/invocation/invocation.ts";

async function invocationsOf(payload: string): Promise<readonly Invocation[]> {
  const made: string[] = [];
  const event = { emitId: "e1", eventId: "1-0", source: "dc_1", owner: "u_1", channel: "news", dedupeId: "7", ts: 7, payload };
  const delivery: Delivery = { id: "e1.sub_1", subscription: "sub_1", listener: "dc_2", event, attempt: 1 };
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const invocations = { request: async (_pool: string, _source: string, text: string) => void made.push(text) };
  const route = { owner: "u_1", listener: { kind: "source", id: "dc_2", pool: "default" } } as const;
  const admission = new AdmissionGate(defaultBacklogLimits);
  await deliverAsInvocation(delivery, route, { invocations, admission, log, clock: systemClock });
  return made.flatMap((text) => decodePack(encodePack([text])));
}

it("stores an event as an invocation of the listening source", async () => {
  const metadata = { emit_id: "e1", name: "news", emitter_id: "dc_1", id: "7", ts: 7 };
  expect(await invocationsOf('{"a":[1]}')).toEqual([
    {
      source: "dc_2",
      trigger: "event",
      at: 7,
      delivery: expect.stringMatching(/^[\w-]{12}$/),
      hops: 1,
      way: ["dc_1"],
      metadata,
      event: { a: [1] },
    },
  ]);
});

it.each(['1,"source":"dc_victim","trigger":"manual"', '1},{"source":"dc_victim","trigger":"manual"', "", "undefined"])(
  "delivers nothing of a payload that is not JSON: %s",
  async (payload) => {
    expect(await invocationsOf(payload)).toEqual([]);
  },
);
