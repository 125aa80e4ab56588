import { z } from "zod";

const request = z.union([
  /** These dead letters or deliveries waiting for a retry. */
  z.object({ webhook: z.string(), deliveries: z.array(z.string()) }),
  /** All dead letters up to this one, by its id in their list, which excludes those that fail again in the meantime. */
  z.object({ webhook: z.string(), upTo: z.string() }),
]);

/** A request of the API to attempt deliveries of a webhook at once: a message on the stream DELIVERIES. */
export type RedeliveryRequest = z.infer<typeof request>;

/** Undefined if it is invalid. */
export function parseRedelivery(text: string): RedeliveryRequest | undefined {
  try {
    return request.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
