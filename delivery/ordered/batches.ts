import { encodeDelivery, type Delivery } from "../routing/delivery.ts";

/** Bounds on a batch, which is one message. A single delivery may be larger. */
const maxBatch = { deliveries: 100, bytes: 256 * 1_024 };

/** Divides the deliveries of a commit into messages. */
export function batchesOf(deliveries: readonly Delivery[]): readonly (readonly Delivery[])[] {
  const batches: Delivery[][] = [];
  let bytes = 0;
  for (const delivery of deliveries) {
    const last = batches.at(-1);
    const size = Buffer.byteLength(delivery.event.payload);
    bytes += size;
    if (last !== undefined && last.length < maxBatch.deliveries && bytes <= maxBatch.bytes) last.push(delivery);
    else {
      batches.push([delivery]);
      bytes = size;
    }
  }
  return batches;
}

export const encodeBatch = (deliveries: readonly Delivery[]): string => `[${deliveries.map(encodeDelivery).join(",")}]`;

export const decodeBatch = (text: string): readonly Delivery[] => JSON.parse(text) as readonly Delivery[]; // Only this role writes to the stream.
