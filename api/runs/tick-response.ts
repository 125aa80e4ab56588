import { z } from "zod";
import { tickReasonOf, tickReasons, tickStateOf, tickStates, type Tick } from "../../domain/schedule/ticks.ts";

const ms = z.number().describe("Epoch milliseconds.");

export const tickSchema = z
  .object({
    id: z.string().describe("`<epoch milliseconds>-<number>`."),
    due_at: z.int().describe("Epoch seconds."),
    due_at_ms: ms,
    state: z.enum(tickStates).describe("`late`: its run started more than 1 s after it was due."),
    reason: z
      .enum(tickReasons)
      .nullable()
      .describe(
        "`waited`: for an earlier run, its owner's share or a runner; `earlier_tick_unfinished`: an earlier tick was still queued, or its run had not ended; `missed`: Headwater was down.",
      ),
    run_id: z.string().nullable().describe("Null if it was skipped."),
    started_at: z.int().nullable().describe("Epoch seconds."),
    started_at_ms: ms.nullable().describe("Start of that run."),
    late_ms: z.number().nullable().describe("Delay from the due time to the start of the run."),
  })
  .meta({ id: "Tick", description: "A tick of a timer." });

export function tickResponse(tick: Tick): z.infer<typeof tickSchema> {
  const { id, dueAt, run } = tick;
  const state = tickStateOf(tick);
  return {
    id,
    due_at: Math.floor(dueAt / 1000),
    due_at_ms: dueAt,
    state,
    reason: tickReasonOf(tick),
    run_id: run?.id ?? null,
    started_at: run === null ? null : Math.floor(run.startedAt / 1000),
    started_at_ms: run?.startedAt ?? null,
    late_ms: run === null ? null : Math.max(0, run.startedAt - dueAt),
  };
}
