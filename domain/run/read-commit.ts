import { z } from "zod";
import type { Commit } from "./commit.ts";
import { maxTimestampMs } from "../clock.ts";
import { isId } from "../ids.ts";
import { dbChangeKinds } from "../invocation/db-change.ts";
import { partitionOf } from "../invocation/partition.ts";
import { runSubject, workflowRunSubject } from "../subjects.ts";
import { maxReportedSkips } from "../schedule/ticks.ts";
import { parseTraceparent, parseTracestate } from "../traces.ts";
import { isEndMarker } from "../workflow/run-commit.ts";
import { isOwn, workflowProgress } from "./read-progress.ts";

const time = z.number().min(-maxTimestampMs).max(maxTimestampMs);
/** Used in subjects and message ids. */
const token = z.string().regex(/^[\w-]{1,200}$/);
const text = z.string().nullable();
const durationMs = z.number().min(0).max(1e12);

/** The parts of a commit that are read outside runners; only runners read its state. */
const shape = z.looseObject({
  source: z.string(),
  owner: z.string(),
  deployment: z.string(),
  run: z.looseObject({
    id: token,
    trigger: z.string(),
    startedAt: time,
    durationMs: z.number().max(1e12),
    cpuMs: z.number(),
    dueAt: time.optional(),
    received: z.string().optional(),
    skippedTicks: z.array(time).max(maxReportedSkips).optional(),
    missedTicks: z.array(time).max(maxReportedSkips).optional(),
    cause: z.looseObject({ emitter: token, emitId: token }).optional(),
    queuedMs: durationMs.optional(),
    startMs: durationMs.optional(),
    duplicates: z.int().min(0).optional(),
    dbChanges: z
      .array(z.looseObject({ prop: z.string(), key: z.string(), change: z.enum(dbChangeKinds), bytes: z.int().min(0).optional() }))
      .max(100)
      .optional(),
  }),
  events: z.array(
    z.looseObject({
      id: z.string(),
      emitId: token,
      channel: z.string(),
      dedupeId: text,
      summary: text,
      ts: time,
      deliverAt: time.optional(),
      payload: z.string(),
    }),
  ),
  logs: z.array(z.looseObject({ k: z.string(), ts: time })),
  error: z.looseObject({ name: z.string(), message: z.string() }).nullable(),
  hops: z.int().min(0).optional(),
  way: z.array(token).max(100).optional(),
  workflow: workflowProgress.optional(),
  // These become headers.
  traceparent: z
    .string()
    .refine((text) => parseTraceparent(text) === text)
    .optional(),
  tracestate: z
    .string()
    .refine((text) => parseTracestate(text) === text)
    .optional(),
});

/**
 * Reads the commit of a message on RUNS. A runner, which runs user code, may only write subjects of its pool's owners, so a commit is
 * valid only if its subject matches its content: that of a workflow contains the run, and only a workflow's commit has a `workflow` part.
 * Undefined for a forged or invalid commit, and for the end marker of a workflow run.
 */
export function readCommit(text: string, subject: string): Commit | undefined {
  const commit = isEndMarker(text) ? undefined : parse(text);
  if (commit === undefined) return undefined;
  const isWorkflow = isId("workflow", commit.source);
  if (subject !== subjectOf(commit, isWorkflow) || isWorkflow !== (commit.workflow !== undefined)) return undefined;
  return isOwn(commit.run.id, commit.workflow ?? {}) ? commit : undefined;
}

function subjectOf({ source, owner, run }: Commit, isWorkflow: boolean): string {
  const partition = partitionOf(source);
  return isWorkflow ? workflowRunSubject(partition, owner, source, run.id) : runSubject(partition, owner, source);
}

function parse(text: string): Commit | undefined {
  try {
    const commit: unknown = JSON.parse(text);
    return shape.safeParse(commit).success ? (commit as Commit) : undefined; // It has the shape; the state is not checked, because only runners read it.
  } catch {
    return undefined;
  }
}
