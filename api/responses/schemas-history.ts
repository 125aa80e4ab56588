import { z } from "zod";
import { emitVerdicts } from "../../domain/dry-run.ts";
import { hooks, triggers } from "../../domain/invocation.ts";
import { thrownSchema } from "../http/errors.ts";

const ms = z.number().describe("Epoch milliseconds.");

const logLine = z.object({
  k: z.string().describe("Kind: `console.log` …, `hook`, `error`."),
  ts: ms,
  msg: z.string().optional(),
  h: z.string().optional().describe("Name of the hook."),
  err: thrownSchema.optional(),
});

/** A line of a source's log. */
export const logLineSchema = logLine.extend({ run_id: z.string() }).meta({ id: "LogLine" });

export const runSchema = z
  .object({
    id: z.string().describe("`r_…`."),
    source_id: z.string(),
    status: z.enum(["succeeded", "failed"]),
    trigger: z.enum(triggers),
    hook: z.enum(hooks).optional(),
    started_at: z.int().describe("Epoch seconds."),
    started_at_ms: ms,
    duration_ms: z.number(),
    cpu_ms: z.number(),
    event_ids: z.array(z.string()),
    logs: z.array(logLine).optional().describe("Only where one run is asked for."),
    error: thrownSchema.nullable(),
    result: z.unknown().describe("What it returned; null when that is no JSON of at most 64 KiB."),
  })
  .meta({ id: "Run" });

/** A run that has not ended in time. */
export const startedRunSchema = z
  .object({ id: z.string().describe("`r_…`."), source_id: z.string(), status: z.literal("running"), trigger: z.enum(triggers) })
  .meta({ id: "StartedRun" });

const emitSchema = z
  .object({
    verdict: z.enum(emitVerdicts).describe("`duplicate`: dedupe knows its id; `refused`: it cannot judge it."),
    id: z.string().nullable().describe("The id given to `$emit`."),
    name: z.string().describe("The channel; empty is the default one."),
    summary: z.string().nullable(),
    ts: ms,
    delivery_ts: z.number().optional(),
    event: z.unknown(),
  })
  .meta({ id: "JudgedEmit", description: "What an emit would have become." });

/** What a run would have left. */
export const dryRunSchema = runSchema
  .omit({ hook: true, event_ids: true })
  .extend({
    dry_run: z.literal(true),
    emits: z.array(emitSchema),
    db_writes: z.array(z.object({ prop: z.string(), key: z.string(), value: z.unknown().optional(), deleted: z.literal(true).optional() })),
    response: z
      .object({
        status: z.int(),
        headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
        body: z.string(),
        base64: z.boolean().optional(),
      })
      .nullable()
      .describe("What http.respond() was given."),
    logs: z.array(logLine),
  })
  .meta({ id: "DryRun", description: "What a run would have left." });

export const replaySchema = z
  .object({
    id: z.string().describe("`rp_…`."),
    source_id: z.string(),
    events: z.int().describe("How many are delivered once more."),
    start_id: z.string().nullable(),
    end_id: z.string().nullable(),
    event_name: z.string().nullable(),
    listener_id: z.string().nullable(),
  })
  .meta({ id: "Replay" });

export const eventDeletionSchema = z
  .object({
    id: z.string().describe("`ed_…`."),
    source_id: z.string(),
    status: z.enum(["pending", "finished"]),
    start_id: z.string().nullable().describe("Null: from the first."),
    end_id: z.string().nullable().describe("The last that goes: as it was asked for, or the newest of that moment. Null: there was none."),
    event_name: z.string().nullable().describe("Null: all channels."),
    deleted: z.int().describe("How many are gone."),
    created_at_ms: ms,
    finished_at_ms: ms.nullable(),
  })
  .meta({ id: "EventDeletion" });

const eventMetadataSchema = z
  .object({
    emit_id: z.string().describe("The id that deliveries carry."),
    name: z.string().describe("The channel; empty is the default one."),
    emitter_id: z.string(),
    id: z.string().optional().describe("The id given to `$emit`; absent without one."),
    summary: z.string().optional().describe("Absent without one."),
    ts: ms,
    delivery_ts: ms.optional().describe("When it is emitted; only in the list of scheduled events, `event_name=$in`."),
  })
  .meta({ id: "EventMetadata" });

export const eventSchema = z
  .object({
    id: z.string().describe("`<epoch milliseconds>-<sequence>`."),
    indexed_at_ms: ms,
    event: z.unknown().describe("What was emitted; shortened when it has more than 1 KiB, unless `expand=event` asks for it whole."),
    metadata: eventMetadataSchema,
  })
  .meta({ id: "Event" });

/** The form before event summaries. */
export const legacyEventSchema = z
  .object({ id: z.string(), e: z.unknown().describe("What was emitted."), k: z.literal("emit"), ts: ms, metadata: eventMetadataSchema })
  .meta({ id: "LegacyEvent" });
