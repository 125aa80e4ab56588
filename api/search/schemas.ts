import { z } from "zod";
import { maxExcerpt } from "../../domain/search/match.ts";
import { logLevels, searchKinds } from "../../domain/search/query.ts";
import { runStatuses } from "../../domain/workflow/run-state.ts";

const itemSchema = z
  .object({
    kind: z.enum(searchKinds).describe("`error` is a run that failed."),
    id: z.string().describe("Of an event or a run its id; of a line, one that is unique within its source."),
    at_ms: z.int().describe("Epoch milliseconds: of an event or line, its own; of a run, its start."),
    source_id: z.string().describe("The source or workflow, `dc_…` or `p_…`."),
    source_name: z.string(),
    run_id: z.string().describe("The run itself, or the one that an event or line is of."),
    trace_id: z.string().describe("`GET /traces/{id}` shows the trace of the item."),
    level: z.enum(logLevels).nullable().describe("Of a line of a console; `error` of an error."),
    status: z.enum(runStatuses).nullable().describe("Of a run or error."),
    channel: z.string().nullable().describe('Of an event; `""` is the default channel.'),
    excerpt: z.string().describe(`The text around the first match, on one line, at most ${maxExcerpt} characters.`),
  })
  .meta({ id: "SearchItem", description: "An event, a line of a log, a run or an error that a search has found." });

export const searchSchema = z
  .object({
    items: z.array(itemSchema).describe("Newest first."),
    cursor: z.string().nullable().describe("`cursor` of the request that searches further back. Null: all was searched."),
    searched_to_ms: z
      .int()
      .nullable()
      .describe(
        "Everything after this time was searched, epoch milliseconds, also if there are fewer items than `limit`. Null: all was searched.",
      ),
  })
  .meta({ id: "SearchPage", description: "What a search has found so far." });
