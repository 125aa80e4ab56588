import { sourceKind } from "../../crds/source.ts";
import type { WorkflowResource, WorkflowSpec } from "../../crds/workflow.ts";
import { derivedToken } from "../../domain/component/fingerprint.ts";
import { HeadwaterError, InvalidInput, NotFound } from "../../domain/errors.ts";
import { parseWorkflowTimer } from "../../domain/schedule/schedule.ts";
import type { TimerOptions } from "../../domain/schedule/timer-options.ts";
import type { ApiContext } from "../context.ts";
import type { Answered } from "../http/response/answered.ts";
import type { User } from "../http/ports.ts";
import { publicIdOf } from "../resources/identity.ts";
import { whyNotFound } from "../resources/not-found.ts";
import type { TriggerFields } from "./request.ts";
import type { workflowSchema } from "./schemas.ts";

type Trigger = WorkflowSpec["triggers"][number];
type ShownTrigger = Answered<typeof workflowSchema>["triggers"][number];

/** Checks triggers, and converts them for storage. @throws InvalidInput, NotFound */
export async function storedTriggers(given: readonly TriggerFields[], user: User, context: ApiContext): Promise<readonly Trigger[]> {
  const triggers: Trigger[] = [];
  for (const [index, fields] of given.entries()) {
    const field = `triggers.${index}`;
    const trigger = await about(field, () => storedTrigger(fields, user, context));
    triggers.push(trigger);
  }
  return triggers;
}

async function storedTrigger(fields: TriggerFields, user: User, { access }: ApiContext): Promise<Trigger> {
  const { source_id, cron, interval_seconds, timezone, custom_response } = fields;
  const type =
    fields.type ?? (source_id !== undefined ? "source" : cron !== undefined || interval_seconds !== undefined ? "timer" : undefined);
  switch (type) {
    case "source": {
      if (source_id === undefined) throw new InvalidInput("source_id is missing: it names the source whose events start runs");
      await access.getReferenced(sourceKind, "source", source_id, user).catch((error: unknown) => {
        throw error instanceof NotFound ? new NotFound(`source_id is not found: ${whyNotFound("source", source_id)}`) : error;
      });
      return { source: source_id };
    }
    case "http":
      return { http: custom_response === undefined ? {} : { customResponse: custom_response } };
    case "email":
      return { email: {} };
    case "timer": {
      const intervalSeconds = interval_seconds;
      if (cron === undefined && intervalSeconds === undefined)
        throw new InvalidInput("cron and interval_seconds are both missing: a timer needs one of them");
      if (cron !== undefined && intervalSeconds !== undefined)
        throw new InvalidInput("cron and interval_seconds are both given: a timer has one of them");
      const options = optionsOf(fields);
      const schedule = parseWorkflowTimer({ cron, intervalSeconds, timezone, ...options });
      if (schedule.kind === "interval") return { timer: { intervalSeconds: schedule.intervalSeconds, ...options } };
      return { timer: { cron: schedule.cron, ...(timezone === undefined ? {} : { timezone }), ...options } };
    }
    case undefined:
      throw new InvalidInput(
        `type is missing: a trigger is {"source_id": "dc_…"}, {"type": "http"}, {"type": "email"} or {"type": "timer", "cron": "0 9 * * *"}`,
      );
  }
}

function optionsOf({ jitter_seconds: jitterSeconds, overlap, catch_up: catchUp }: TriggerFields): TimerOptions {
  return {
    ...(jitterSeconds === undefined ? {} : { jitterSeconds }),
    ...(overlap === undefined ? {} : { overlap }),
    ...(catchUp === undefined ? {} : { catchUp }),
  };
}

/** Names the trigger in errors about it. */
async function about(field: string, work: () => Promise<Trigger>): Promise<Trigger> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof InvalidInput) && !(error instanceof NotFound)) throw error;
    const details = [{ field, message: error.message }];
    throw new HeadwaterError(error.status, error.code, `${field}: ${error.message}`, { cause: error, details });
  }
}

/**
 * Triggers as responses show them. A source trigger has the id of its source. Other ids follow from the workflow and the position among
 * triggers of the same type, so a trigger keeps its id when its schedule changes.
 */
export function shownTriggers(workflow: WorkflowResource, sourceOf: (name: string) => string | undefined): readonly ShownTrigger[] {
  const counts = { http: 0, timer: 0, email: 0 };
  const derived = (kind: keyof typeof counts): string => derivedToken(`${publicIdOf(workflow)} ${kind} ${counts[kind]++}`);
  return triggersOf(workflow).map((trigger): ShownTrigger => {
    const { http, timer, email, source, sourceRef } = trigger;
    if (http !== undefined) {
      const custom = http.customResponse === undefined ? {} : { custom_response: http.customResponse };
      return { id: `hi_${derived("http")}`, type: "http", endpoint_url: workflow.status.endpoint ?? null, ...custom };
    }
    if (email !== undefined) return { id: `ei_${derived("email")}`, type: "email", address: workflow.status.email ?? null };
    if (timer !== undefined) {
      const { cron, intervalSeconds, timezone, jitterSeconds, overlap, catchUp } = timer;
      return {
        id: `ti_${derived("timer")}`,
        type: "timer",
        ...(cron === undefined ? {} : { cron, timezone: timezone ?? "UTC" }),
        ...(intervalSeconds === undefined ? {} : { interval_seconds: intervalSeconds }),
        ...(jitterSeconds === undefined ? {} : { jitter_seconds: jitterSeconds }),
        ...(overlap === undefined ? {} : { overlap }),
        ...(catchUp === undefined ? {} : { catch_up: catchUp }),
      };
    }
    const id = source ?? (sourceRef === undefined ? undefined : sourceOf(sourceRef.name));
    return { id: id ?? sourceRef?.name ?? "", type: "source", source_id: id ?? null };
  });
}

/** A stored resource may not match its schema. */
const triggersOf = ({ spec }: { readonly spec: Partial<WorkflowSpec> }): readonly Trigger[] =>
  Array.isArray(spec.triggers) ? spec.triggers : [];
