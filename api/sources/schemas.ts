import { z } from "zod";
import { healthStates } from "../../domain/source/source-health.ts";
import { configurableProps } from "../components/schemas.ts";
import { ownerId, seconds, times } from "../resources/schemas.ts";

export const sourceSchema = z
  .object({
    id: z.string().describe("`dc_…`."),
    user_id: z.string().optional().describe("Only in responses to requests that create or change it."),
    owner_id: ownerId,
    component_id: z.string().nullable(),
    configurable_props: configurableProps.optional().describe("Only for components with additional props."),
    configured_props: z.record(z.string(), z.unknown()).describe("Values by prop, without secret ones."),
    active: z.boolean(),
    ...times,
    name: z.string(),
    name_slug: z.string(),
    state: z.enum(healthStates).describe("State of the source; `paused` exactly if `active` is false."),
    problem: z
      .object({
        code: z
          .string()
          .describe("Stable: the code of the run's error (`run_failed` if it has none), or the reason why it is not deployed."),
        message: z.string(),
        since: seconds,
      })
      .nullable()
      .describe("Current problem; null if there is none."),
    last_run_at: seconds.nullable().describe("Start of its last run, epoch seconds; null before the first."),
    last_error: z
      .object({ code: z.string().nullable().describe("Null: the component's code threw it."), message: z.string(), at: seconds })
      .nullable()
      .describe("Error of the last stored failed run, which may be older than the last run."),
    next_tick_at: seconds.nullable().describe("Next tick of its timers, epoch seconds; null: no timer will tick."),
    backlog: z.int().nullable().describe("Accepted invocations that are not finished; null while NATS does not respond."),
  })
  .meta({ id: "Source" });
