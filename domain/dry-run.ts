import { z } from "zod";
import { isJson } from "./json.ts";
import type { RunError } from "./run-error.ts";
import type { HttpResponse, LogRecord } from "./run-products.ts";

/**
 * A run that leaves nothing: an invocation with the trigger `dry-run`, which wakes runners like any other. It sees what its source
 * remembers and commits nothing, so it waits behind no run of that source, and only whoever asked hears what it would have left.
 */
export interface DryRun {
  /** Public id of the source, `dc_…`. */
  readonly source: string;
  /** Epoch ms from which on nobody waits for it: then it is dropped without a run. */
  readonly deadline: number;
}

/** `duplicate`: dedupe knows its id. `refused`: dedupe cannot judge it, and `error` says why. */
export const emitVerdicts = ["emitted", "duplicate", "refused"] as const;

/** What an emit would have become. */
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

/** A value that would have been written; null: the key would be gone. */
export interface DbWrite {
  readonly prop: string;
  readonly key: string;
  /** JSON text. */
  readonly value: string | null;
}

/** What a run would have left. */
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

/** Bytes of JSON that are told of one; the answer is one message. */
export const mostDryRunBytes = 768 * 1024;

const json = z.string().refine(isJson);
const error = z.object({
  name: z.string(),
  message: z.string(),
  stack: z.string().exactOptional(),
  code: z.string().exactOptional(),
});
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
  logs: z.array(z.looseObject({ k: z.string(), ts: z.number() })),
  writes: z.array(z.object({ prop: z.string(), key: z.string(), value: json.nullable() })),
  response: z
    .object({
      status: z.number(),
      headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
      body: z.string(),
      base64: z.boolean().exactOptional(),
    })
    .nullable(),
  error: error.nullable(),
  result: json.nullable(),
});

/** As a runner sent it: a process that runs the code of users is not believed to keep to the form. Undefined for what is none. */
export function parseDryRunOutcome(value: unknown): DryRunOutcome | undefined {
  return outcome.safeParse(value).data;
}
