import { expect, it } from "vitest";
import type { DeliveryConfig, DeliveryPorts } from "../../../delivery/ports.ts";
import { decodeDelivery } from "../../../delivery/routing/delivery.ts";
import { sendOf } from "../../conformance/destination-ports.ts";
import { createDeliverer } from "./deliverer-fixture.ts";

it("stores a due delivery under another message id, also for a time that it had before: the clock may be behind that of NATS", async () => {
  const stored: { readonly text: string; readonly messageId: string }[] = [];
  const ports = {
    deliveries: {
      schedule: async (_listener: string, _delivery: string, text: string, _atMs: number, messageId: string) => {
        stored.push({ text, messageId });
      },
    },
  } as unknown as DeliveryPorts; // Storing a delivery reaches nothing else.
  const { deliverer } = createDeliverer({ deliveryDeadlineMs: 1_000 } as DeliveryConfig, ports);
  let delivery = sendOf("email", { subject: "Hello", text: "you" });
  for (const seq of [7, 8]) {
    await deliverer.schedule(delivery, 1_001_000);
    delivery = { ...decodeDelivery(stored.at(-1)?.text ?? ""), dueSequence: seq };
  }
  // The same message is handed out again, because its ack was lost.
  for (let time = 1; time <= 2; time++) await deliverer.schedule(delivery, 1_001_000);
  expect(stored.map(({ messageId }) => messageId)).toEqual([
    "e1.sub_1#1@1001000",
    "e1.sub_1#1@1001000.7",
    "e1.sub_1#1@1001000.8",
    "e1.sub_1#1@1001000.8",
  ]);
});
