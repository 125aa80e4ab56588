import { z } from "zod";

const ms = z.number().describe("Epoch milliseconds.");

const deletion = z.object({
  id: z.string().describe("`ed_…`."),
  status: z.enum(["pending", "finished"]),
  start_id: z.string().nullable().describe("Null: from the first."),
  end_id: z.string().nullable().describe("The last event to delete: as requested, or the newest at that time. Null: there was none."),
  event_name: z.string().nullable().describe("Null: all channels."),
  deleted: z.int().describe("Number of deleted events."),
  created_at_ms: ms,
  finished_at_ms: ms.nullable(),
});
export const eventDeletionSchema = deletion.extend({ source_id: z.string() }).meta({ id: "EventDeletion" });
export const workflowEventDeletionSchema = deletion.extend({ workflow_id: z.string() }).meta({ id: "WorkflowEventDeletion" });

const eventMetadataSchema = z
  .object({
    emit_id: z.string().describe("The event id in deliveries."),
    name: z.string().describe("The channel; empty is the default one."),
    emitter_id: z.string(),
    id: z.string().optional().describe("The id given to `$emit`, or absent."),
    summary: z.string().optional().describe("The summary given to `$emit`, or absent."),
    ts: ms,
    delivery_ts: ms.optional().describe("When the event is due; only in the list of scheduled events, `event_name=$in`."),
  })
  .meta({ id: "EventMetadata" });

export const eventSchema = z
  .object({
    id: z.string().describe("`<epoch milliseconds>-<sequence>`."),
    indexed_at_ms: ms,
    event: z.unknown().describe("The emitted value; truncated above 1 KiB unless `expand=event` is given."),
    metadata: eventMetadataSchema,
  })
  .meta({ id: "Event" });

/** The form before event summaries. */
export const legacyEventSchema = z
  .object({ id: z.string(), e: z.unknown().describe("The emitted value."), k: z.literal("emit"), ts: ms, metadata: eventMetadataSchema })
  .meta({ id: "LegacyEvent" });
