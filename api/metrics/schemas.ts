import { z } from "zod";
import { readSteps } from "../../domain/measures/range.ts";
import { optionalParameter, text } from "../http/request/parameters.ts";

export const maxIds = 100;
/** Of one response. */
export const maxListedPoints = 5_000;

const timeMessage = "it must be a time in epoch milliseconds";
const epochMs = z.coerce.number(timeMessage).int(timeMessage).min(0, timeMessage);

export const rangeParameters = z.object({
  from: optionalParameter(epochMs).describe("Start of the time range, epoch milliseconds. Default: 24 hours before its end."),
  to: optionalParameter(epochMs).describe("End of the time range, epoch milliseconds, exclusive. Default: now."),
  step: optionalParameter(
    z.enum(["auto", ...readSteps], `it must be auto, ${readSteps.slice(0, -1).join(", ")} or ${readSteps.at(-1)}`),
  ).describe("Length of a point; hours and days are those of UTC. Default: `auto`, the shortest with at most 200 points."),
});

export const listParameters = rangeParameters.extend({
  ids: text
    .min(1, "it must name sources, workflows or webhooks by their ids, with commas between them")
    .describe(`Ids of sources, workflows and webhooks, with commas between them; at most ${maxIds}.`),
});

const count = (what: string) => z.int().describe(what);
const duration = (what: string) => z.number().nullable().describe(`Milliseconds; null: none. ${what}`);

const measured = {
  runs: count("Runs that ended."),
  errors: count("Runs that failed."),
  events: count("Emitted events."),
  compute_ms: count("Milliseconds in which code ran."),
  p50_ms: duration("Median duration of runs; of a webhook, of attempts. Within 19 %."),
  p95_ms: duration("The duration that 95 % do not exceed. Within 19 %."),
  max_ms: duration("The longest duration."),
  wait_avg_ms: duration("Mean time from the acceptance of an invocation to the start of its run."),
  wait_max_ms: duration("The longest of these times."),
  attempts: count("Attempts at webhooks, and of what runs of workflows send."),
  failed_attempts: count("Attempts that failed."),
  deliveries: count("Deliveries that succeeded."),
  dead_letters: count("Deliveries whose last attempt failed."),
};

const measuredSchema = z.object(measured).meta({ id: "Measured", description: "Counts and durations of a whole range." });
const pointSchema = z
  .object({ at_ms: z.int().describe("Start of the step, epoch milliseconds."), ...measured })
  .meta({ id: "MetricsPoint", description: "Counts and durations of a step." });

export const metricsSchema = z
  .object({
    id: z.string().describe("The source, workflow, webhook, user or organization; `installation`: all owners."),
    step: z.enum(readSteps),
    step_ms: z.int().describe("Length of a step in milliseconds."),
    from_ms: z.int().describe("Start of the first step, epoch milliseconds."),
    to_ms: z.int().describe("End of the last step, epoch milliseconds."),
    total: measuredSchema,
    points: z.array(pointSchema).describe("One for each step, in order, also for those in which nothing happened."),
  })
  .meta({ id: "Metrics", description: "What happened over time." });
