import { z } from "zod";
import { isJson } from "../json.ts";
import type { Deployment } from "../source/deployment.ts";
import type { WorkflowTest } from "../workflow/test-run.ts";
import { httpResponseSchema, logRecordSchema, runErrorSchema, type HttpResponse, type LogRecord, type RunError } from "../run-products.ts";

/**
 * A run that stores nothing: an invocation with the trigger `dry-run`, which wakes runners like any other. It reads its source's state
 * and commits nothing, so it does not wait for other runs of the source, and only the caller gets its result.
 */
export interface DryRun {
  /** Public id of the source, `dc_…`, of the workflow, `p_…`, or of the component of a draft. */
  readonly source: string;
  /** Deadline of the caller, epoch ms: after it, the dry run is dropped. */
  readonly deadline: number;
  /** Set exactly for a workflow. */
  readonly workflow?: WorkflowTest;
  /** Set exactly for a source that is not deployed: it begins without state. */
  readonly draft?: Deployment;
}

/** `duplicate`: dedupe has seen its id. `refused`: dedupe cannot compare it, see `error`. */
export const emitVerdicts = ["emitted", "duplicate", "refused"] as const;

/** The result that an emit would have had. */
export interface JudgedEmit {
  readonly verdict: (typeof emitVerdicts)[number];
  /** The id given to `$emit`, as a string. */
  readonly id: string | null;
  /** "" is the default channel. */
  readonly channel: string;
  readonly summary: string | null;
  /** Epoch ms. */
  readonly ts: number;
  readonly deliverAt?: number;
  /** JSON text. */
  readonly payload: string;
}

/** A write to `db`; null: the key would have been removed. */
export interface DbWrite {
  readonly prop: string;
  readonly key: string;
  /** JSON text. */
  readonly value: string | null;
}

/** What a run would have stored. */
export interface DryRunOutcome {
  readonly startedAt: number;
  readonly durationMs: number;
  readonly cpuMs: number;
  /** In the order of their events. */
  readonly emits: readonly JudgedEmit[];
  readonly logs: readonly LogRecord[];
  readonly writes: readonly DbWrite[];
  readonly response: HttpResponse | null;
  readonly error: RunError | null;
  /** JSON text, or null. */
  readonly result: string | null;
}

/** Maximum bytes of the JSON of a result, which is one message. */
export const maxDryRunBytes = 768 * 1024;

const json = z.string().refine(isJson);
const outcome = z.object({
  startedAt: z.number(),
  durationMs: z.number(),
  cpuMs: z.number(),
  emits: z.array(
    z.object({
      verdict: z.enum(emitVerdicts),
      id: z.string().nullable(),
      channel: z.string(),
      summary: z.string().nullable(),
      ts: z.number(),
      deliverAt: z.number().exactOptional(),
      payload: json,
    }),
  ),
  logs: z.array(logRecordSchema),
  writes: z.array(z.object({ prop: z.string(), key: z.string(), value: json.nullable() })),
  response: httpResponseSchema.nullable(),
  error: runErrorSchema.nullable(),
  result: json.nullable(),
});

/** Parses a runner's reply, which is untrusted because the process runs user code. Undefined if it is invalid. */
export function parseDryRunOutcome(value: unknown): DryRunOutcome | undefined {
  return outcome.safeParse(value).data;
}
