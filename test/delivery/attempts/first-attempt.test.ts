import { expect, it } from "vitest";
import { Dispatch } from "../../../delivery/routing/dispatch.ts";
import type { DeliveryConfig, DeliveryPorts } from "../../../delivery/ports.ts";
import { Unavailable } from "../../../domain/errors.ts";
import { sendOf } from "../../conformance/destination-ports.ts";
import { createDeliverer } from "./deliverer-fixture.ts";

it("stores a mail under one message id, also when NATS stores it and its ack is lost", async () => {
  const messageIds: string[] = [];
  let now = 1_000_000;
  const ports = {
    deliveries: {
      schedule: async (_listener: string, _delivery: string, _text: string, _atMs: number, messageId: string) => {
        if (messageIds.push(messageId) === 1) throw new Unavailable("NATS does not answer");
      },
    },
    clock: { now: () => (now += 1_000) },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  } as unknown as DeliveryPorts; // Storing a delivery reaches nothing else.
  const { deliverer } = createDeliverer({ deliveryDeadlineMs: 1_000 } as DeliveryConfig, ports);
  const dispatch = new Dispatch({
    deliverer,
    ordered: { append: async () => undefined },
    handedOver: { admit: async () => undefined },
    ports,
    signal: new AbortController().signal,
  });
  await dispatch.attempt(sendOf("email", { subject: "Hello", text: "you" }), undefined, 0, {});
  expect(messageIds).toEqual(["e1.sub_1#1@1001000", "e1.sub_1#1@1001000"]);
});
