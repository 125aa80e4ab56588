import type { CommitPosition } from "../../domain/source/deployment.ts";
import type { DeliveryBatch } from "../../domain/delivery/ordered-queue.ts";
import type { Delivery } from "../routing/delivery.ts";

/** @param texts encoded deliveries */
export function encodePack(texts: readonly string[], number: number, upTo: CommitPosition | undefined): string {
  const told = upTo === undefined ? "" : `"upTo":${JSON.stringify(upTo)},`;
  return `{"number":${number},${told}"deliveries":[${texts.join(",")}]}`;
}

export function decodePack(text: string): DeliveryBatch<Delivery> {
  return JSON.parse(text) as DeliveryBatch<Delivery>; // Only this role writes to the stream.
}
