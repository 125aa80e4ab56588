import { z } from "zod";
import { emitVerdicts } from "../../domain/invocation/dry-run.ts";
import { dbChangeKinds } from "../../domain/invocation/db-change.ts";
import { dedupeStrategies } from "../../domain/component/definition.ts";
import { hooks, triggers } from "../../domain/trigger.ts";
import { thrownSchema } from "../http/response/errors.ts";

const ms = z.number().describe("Epoch milliseconds.");

export const logLine = z.object({
  k: z.string().describe("Kind: `console.log` …, `hook`, `error`."),
  ts: ms,
  msg: z.string().optional(),
  h: z.string().optional().describe("Name of the hook."),
  err: thrownSchema.optional(),
});

/** A line of a source's log. */
export const logLineSchema = logLine.extend({ run_id: z.string() }).meta({ id: "LogLine" });

const dbChange = z.object({
  prop: z.string(),
  key: z.string(),
  change: z.enum(dbChangeKinds),
  bytes: z.int().optional().describe("Size of the new value's JSON; absent: it was deleted."),
});

const dbSchema = z.record(z.string(), z.record(z.string(), z.unknown()));

export const runInputsSchema = z
  .object({
    run_id: z.string(),
    source_id: z.string(),
    deployment_id: z.string().describe("The version that ran, `d_…`."),
    component_id: z.string(),
    entry: z.string().describe("Path of the component's code in `files`."),
    files: z.record(z.string(), z.string()).describe("Code by path."),
    bundle: z.object({
      hash: z.string(),
      code: z.string().describe("The script that runs in the sandbox."),
      source_map: z.string().nullable().describe("Its source map as JSON, without the code of its sources."),
      needs_node: z.boolean(),
    }),
    event: z
      .unknown()
      .optional()
      .describe(
        "Argument of `run`; of a tick that succeeded, made from the first timer and the start of the run. Absent: it is not stored.",
      ),
    metadata: z.unknown().optional().describe("Second argument of `run`."),
    props: z.record(z.string(), z.unknown()).describe("Values on `this`, without secrets and accounts."),
    missing_props: z
      .array(z.object({ name: z.string(), type: z.string(), app: z.string().optional() }))
      .describe("Secret props and accounts, whose values the API does not return."),
    additional_props: z.array(z.object({ name: z.string(), type: z.string(), app: z.string().optional() })),
    db: dbSchema.nullable().describe("`$.service.db` before the run, by prop and key. Null: it is not stored any more."),
    dedupe: z.enum(dedupeStrategies).nullable(),
    endpoint: z.string().nullable(),
  })
  .meta({ id: "RunInputs", description: "What a run started from." });

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
    logs: z.array(logLine).optional().describe("Only in the response for a single run."),
    error: thrownSchema.nullable(),
    result: z.unknown().describe("Return value; null if it is not JSON of at most 64 KiB."),
    event: z.unknown().optional().describe("Of a failed run, the event that it received. Only in the response for a single run."),
    cause: z.object({ emitter_id: z.string(), emit_id: z.string() }).optional().describe("The emitted event that started it."),
    queued_ms: z.number().optional().describe("Time in the queue before it started."),
    start_ms: z.number().optional().describe("Time from its start until its code began to run."),
    duplicates: z.int().optional().describe("Number of its emits that dedupe had seen before."),
    db_changes: z.array(dbChange).optional().describe("The first ten keys of `$.service.db` that it changed, without their values."),
  })
  .meta({ id: "Run" });

/** A run that has not ended in time. */
export const startedRunSchema = z
  .object({ id: z.string().describe("`r_…`."), source_id: z.string(), status: z.literal("running"), trigger: z.enum(triggers) })
  .meta({ id: "StartedRun" });

const emitSchema = z
  .object({
    verdict: z.enum(emitVerdicts).describe("`duplicate`: dedupe has seen its id; `refused`: dedupe cannot compare it."),
    id: z.string().nullable().describe("The id given to `$emit`."),
    name: z.string().describe("The channel; empty is the default one."),
    summary: z.string().nullable(),
    ts: ms,
    delivery_ts: z.number().optional(),
    event: z.unknown(),
  })
  .meta({ id: "JudgedEmit", description: "The result that an emit would have had." });

/** What a dry run would have stored. */
export const dryRunSchema = runSchema
  .omit({ hook: true, event_ids: true, event: true, cause: true, queued_ms: true, start_ms: true, duplicates: true, db_changes: true })
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
      .describe("Argument of http.respond()."),
    logs: z.array(logLine),
  })
  .meta({ id: "DryRun", description: "What a dry run would have stored." });
