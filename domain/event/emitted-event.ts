import { z } from "zod";

const emittedEvent = z.object({
  source: z.string(),
  owner: z.string(),
  emitId: z.string(),
  /** Absent, as the next: an earlier version announced or scheduled it. */
  eventId: z.string().optional(),
  /** The run that scheduled it. */
  run: z.string().optional(),
  channel: z.string(),
  dedupeId: z.string().optional(),
  summary: z.string().optional(),
  ts: z.number(),
  payload: z.string(),
});

/** A scheduled event that has become due, as delivery announces it to live streams. */
export type EmittedEvent = z.infer<typeof emittedEvent>;

/** Undefined if it is invalid. */
export const parseEmittedEvent = (json: unknown): EmittedEvent | undefined => emittedEvent.safeParse(json).data;
