import { z } from "zod";
import { spanKinds, spanStatuses } from "../../domain/trace/span.ts";

const ms = z.number().nullable();
const id = z.string().optional();

const spanSchema = z
  .object({
    id: z.string().describe("Unique within the trace."),
    parent_id: z.string().nullable().describe("The span that caused it, or of which it is a part. Null: the first one."),
    depth: z.int().describe("Number of spans above it."),
    kind: z.enum(spanKinds).describe("`queue` and `start`: of a run, before it started, and before its code began to run."),
    name: z.string().nullable().describe("For people. Null: the span belongs to another owner, or its source was deleted."),
    detail: z.string().optional().describe("What distinguishes it from others of its name."),
    status: z.enum(spanStatuses).optional(),
    started_at_ms: ms.describe("Epoch milliseconds. Null: unknown."),
    ended_at_ms: ms.describe("Epoch milliseconds. Null: it has not ended, or is unknown."),
    cpu_ms: z.number().optional(),
    source_id: id,
    workflow_id: id,
    webhook_id: id,
    run_id: id,
    event_id: id,
    delivery_id: id,
    step_id: id,
    attempt: z.int().optional(),
    deployment_id: z.string().optional().describe("Of a run: the version of the code, `d_…`."),
    repeats: z.string().optional().describe("The run that it repeats: `r_…`."),
    trace_id: z.string().optional().describe("Under this id, `GET /traces/{id}` shows it: of a run, event or delivery."),
    hidden: z.literal(true).optional().describe("It belongs to another owner, or its source was deleted: nothing else is shown."),
    gone: z.literal(true).optional().describe("It is no longer stored."),
    has_more: z.literal(true).optional().describe("Some of what is below it may be missing: ask for its trace with `below=true`."),
  })
  .meta({ id: "Span", description: "A part of a trace." });

export const traceSchema = z
  .object({
    focus_id: z.string().describe("The span that was asked for."),
    spans: z.array(spanSchema).describe("At most 1,000, depth first: each follows its parent, siblings are in order of time."),
    cut: z.boolean().describe("True: some spans are missing, because there are too many. See `has_more`."),
    otel_trace_id: z.string().nullable().describe("Id of the OpenTelemetry trace. Null: tracing is off."),
  })
  .meta({ id: "Trace", description: "All that one request, tick or event has caused." });
