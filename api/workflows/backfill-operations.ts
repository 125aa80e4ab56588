import { z } from "zod";
import type { WorkflowResource } from "../../crds/workflow.ts";
import { Conflict, InvalidInput, NotFound } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { backfillTicks, maxBackfill } from "../../domain/schedule/backfill.ts";
import { parseWorkflowTimer, type TimerSchedule } from "../../domain/schedule/schedule.ts";
import { operation, type ApiContext } from "../context.ts";
import type { Call } from "../http/request/call.ts";
import { accepted } from "../http/response/replies.ts";
import { inProgress } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import { checkQuota } from "../owners/quota.ts";
import { publicIdOf } from "../resources/identity.ts";
import { workflowOf } from "./find-workflow.ts";
import { manualRunOf } from "./runnable.ts";
import { shownTriggers } from "./triggers.ts";

const timeMessage = "it must be a time in epoch milliseconds or RFC 3339, such as 2026-11-21T12:00:00Z";
const maxTimeMs = Date.UTC(10_000, 0, 1);
const time = z
  .union([z.int(timeMessage), z.iso.datetime({ offset: true, error: timeMessage })], timeMessage)
  .transform((value) => (typeof value === "number" ? value : Date.parse(value)))
  .refine((value) => value >= 1 && value < maxTimeMs, timeMessage);

const range = z.object({
  from: time.describe("Start of the range, inclusive: epoch milliseconds, or a time in RFC 3339."),
  to: time.nullish().describe("Its end, exclusive. Default: now."),
});

const backfillSchema = z
  .object({
    workflow_id: z.string(),
    trigger_id: z.string(),
    runs: z.int().describe("Number of runs: one for each tick in the range."),
    first_at_ms: z.number().describe("Time of the first tick, epoch milliseconds."),
    last_at_ms: z.number().describe("Time of the last one."),
  })
  .meta({ id: "Backfill" });

/** Runs of past ticks. */
export const backfillOperations = [
  operation({
    route: "POST /workflows/:workflow_id/triggers/:trigger_id/backfill",
    id: "backfillTrigger",
    change: { action: "backfill", kind: "Workflow" },
    summary: "Run a workflow for past ticks of a timer",
    description: `Starts one run for each tick of the range, at most ${maxBackfill}, oldest first: each when the one before has ended or is suspended. The event has the time of the tick.`,
    body: range,
    responses: inProgress(backfillSchema),
    errors: [409],
    handle: async (call, context) => {
      const resource = await workflowOf(call, context);
      const { from, to } = call.body();
      const [workflow, trigger] = [publicIdOf(resource), pathOf(call, "trigger_id")];
      const schedule = timerOf(resource, trigger);
      const now = context.ports.clock.now();
      const ticks = ticksIn(schedule, { from, to: to ?? now, now });
      await start(call, resource, { schedule, ticks, until: to ?? now }, context);
      return accepted({
        workflow_id: workflow,
        trigger_id: trigger,
        runs: ticks.length,
        first_at_ms: ticks[0] ?? 0,
        last_at_ms: ticks.at(-1) ?? 0,
      });
    },
  }),
];

/** @throws NotFound, InvalidInput */
function timerOf(resource: WorkflowResource, id: string): TimerSchedule {
  const index = shownTriggers(resource, () => undefined).findIndex((trigger) => trigger.id === id);
  const trigger = resource.spec.triggers[index];
  const workflow = publicIdOf(resource);
  if (trigger === undefined)
    throw new NotFound(`record not found: workflow ${workflow} has no trigger ${id.slice(0, 80)}: its \`triggers\` have the ids`);
  if (trigger.timer === undefined) throw new InvalidInput(`trigger ${id} is no timer: only timers have ticks`);
  return parseWorkflowTimer(trigger.timer);
}

/** @throws InvalidInput if the range has no ticks, or too many */
function ticksIn(schedule: TimerSchedule, { from, to, now }: { readonly from: number; readonly to: number; readonly now: number }) {
  const shown = (ms: number): string => new Date(ms).toISOString();
  if (to > now) throw invalid("to", `${shown(to)} is in the future: it must be at most now, ${shown(now)}`);
  if (from >= to) throw invalid("from", `${shown(from)} must be before the end of the range, ${shown(to)}`);
  const ticks = backfillTicks(schedule, from, to);
  if (ticks.length === 0) throw invalid("from", `the timer has no tick from ${shown(from)} until ${shown(to)}: choose a longer range`);
  const beyond = ticks[maxBackfill];
  if (beyond !== undefined)
    throw invalid("to", `the range has more than ${maxBackfill} ticks: send one that ends at or before ${shown(beyond)}, then the next`);
  return ticks;
}

const invalid = (field: string, message: string): InvalidInput =>
  new InvalidInput(`${field}: ${message}`, { details: [{ field, message }] });

interface Requested {
  readonly schedule: TimerSchedule;
  readonly ticks: readonly number[];
  readonly until: number;
}

/** Stores the first tick, which brings the next ones. @throws Conflict `workflow_inactive`, QuotaUsedUp, Unavailable */
async function start(call: Call, resource: WorkflowResource, { schedule, ticks, until }: Requested, context: ApiContext): Promise<void> {
  const { access, ports } = context;
  const workflow = publicIdOf(resource);
  if (!resource.spec.active)
    throw new Conflict(`workflow ${workflow} is inactive: activate it with PUT /v1/workflows/${workflow} and {"active": true}`, {
      code: "workflow_inactive",
    });
  const run = newId("run", ports.randomBytes);
  const { source, owner, pool, generation } = await manualRunOf(resource, { run, event: null, trace: call.trace }, context);
  const billed = await access.ownerOf(resource);
  if (billed !== undefined) await checkQuota(billed, ports);
  const { overlap = "allow" } = schedule;
  await ports.runs.backfill({
    source,
    owner,
    pool,
    generation,
    id: run.slice("r_".length),
    schedule,
    firstAt: ticks[0] ?? until,
    backfill: { until, inTurn: overlap !== "allow" },
  });
}
