import { z } from "zod";
import { isJson } from "../json.ts";
import { maxTimestampMs } from "../clock.ts";
import type { Answer } from "./invocation.ts";
import { triggers } from "../trigger.ts";

const time = z.number().min(-maxTimestampMs).max(maxTimestampMs);
const runError = z.looseObject({ name: z.string(), message: z.string() });

const runSummary = z.looseObject({
  id: z.string(),
  source: z.string(),
  trigger: z.enum(triggers),
  generation: z.number(),
  startedAt: time,
  durationMs: z.number(),
  cpuMs: z.number(),
  eventIds: z.array(z.string()),
  logs: z.array(z.looseObject({ k: z.string(), ts: time })),
  error: runError.nullable(),
  result: z.string().refine(isJson).nullable(),
});
const httpResponse = z.looseObject({
  status: z.number(),
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  body: z.string(),
  base64: z.boolean().optional(),
});
const resumeOutcome = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("done") }),
  z.object({
    outcome: z.literal("gone"),
    code: z.enum(["resume_url_used", "resume_url_expired", "resume_url_replaced", "run_ended"]),
    message: z.string(),
  }),
]);

const answer = z.discriminatedUnion("kind", [
  // The ingress checks status and headers when it writes the response.
  z.object({ kind: z.literal("response"), response: httpResponse, stream: z.string().optional() }),
  z.object({
    kind: z.literal("body"),
    stream: z.string(),
    index: z.int().min(0),
    base64: z.string(),
    end: z.enum(["whole", "cut"]).optional(),
  }),
  z.object({ kind: z.literal("run"), run: runSummary }),
  z.object({ kind: z.literal("not-run"), reason: z.enum(["paused", "deleted"]) }),
  // The caller parses what these contain.
  z.object({ kind: z.literal("configured"), configured: z.unknown() }),
  z.object({ kind: z.literal("dry-run"), outcome: z.unknown() }),
  z.object({ kind: z.literal("workflow-test"), outcome: z.unknown() }),
  z.object({ kind: z.literal("resume"), outcome: resumeOutcome }),
]);

/** Runners execute user code, so their answers are checked. Undefined if the text is no answer. */
export function parseAnswer(text: string): Answer | undefined {
  try {
    return answer.safeParse(JSON.parse(text)).data as Answer | undefined; // The parts without a form are parsed where they are used.
  } catch {
    return undefined;
  }
}
