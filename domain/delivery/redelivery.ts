import { z } from "zod";

const range = z.object({
  upTo: z.string(),
  /** Epoch ms, inclusive. */
  sinceMs: z.number().optional(),
  /** Epoch ms, exclusive. */
  untilMs: z.number().optional(),
});

/** Dead letters up to this one, by its id in their list, which excludes those that fail again in the meantime; by the time at which they died. */
export type DeadLetterRange = z.infer<typeof range>;
/** When dead letters died. */
export type DiedRange = Omit<DeadLetterRange, "upTo">;

const request = z.union([
  /** These dead letters; a single delivery may wait for a retry instead. */
  z.object({ webhook: z.string(), deliveries: z.array(z.string()) }),
  /** All dead letters up to this one. */
  z.object({ webhook: z.string(), upTo: z.string() }),
  /** Those of a time range. An earlier version cannot parse this, and redelivers nothing: the form above would redeliver all. */
  z.object({ webhook: z.string(), range }),
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
