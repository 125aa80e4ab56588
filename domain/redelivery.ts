import { z } from "zod";

const request = z.union([
  /** These, be they dead letters or waiting for their next attempt. */
  z.object({ webhook: z.string(), deliveries: z.array(z.string()) }),
  /** All dead letters up to this one, by its id in their list: what dies again meanwhile is not among them. */
  z.object({ webhook: z.string(), upTo: z.string() }),
]);

/** What the API asks of delivery, as a message of the stream DELIVERIES: deliveries of a webhook are to be attempted again at once. */
export type RedeliveryRequest = z.infer<typeof request>;

/** Undefined for what is none. */
export function parseRedelivery(text: string): RedeliveryRequest | undefined {
  try {
    return request.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
