import { sourceHealth } from "../../crds/source-health.ts";
import type { ComponentDefinition } from "../../domain/component/definition.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { errorLine, type HealthState, type LatestRuns } from "../../domain/source/source-health.ts";
import { nextTickOf } from "../../domain/source/source-timers.ts";
import { epochSeconds } from "../resources/identity.ts";
import { problemResponse } from "../resources/problem.ts";
import { asItRuns } from "../resources/source.ts";
import type { SourceResource } from "../resources/source.ts";
import type { Answered } from "../http/response/answered.ts";
import type { sourceSchema } from "./schemas.ts";

/** Facts about a source that are not in its resource. */
export interface HealthFacts {
  /** Undefined: it has never run. */
  readonly latest: LatestRuns | undefined;
  /** Undefined: NATS does not respond. */
  readonly backlog: number | undefined;
  /** Epoch ms. */
  readonly now: number;
}

type HealthFields = Pick<Answered<typeof sourceSchema>, "state" | "problem" | "last_run_at" | "last_error" | "next_tick_at" | "backlog">;

/** The health fields of a source. @param definition of the running version, with its additional props */
export function healthResponse(
  source: SourceResource,
  definition: ComponentDefinition | undefined,
  { latest, backlog, now }: HealthFacts,
): HealthFields {
  const { state, problem } = sourceHealth(source, latest?.failing);
  const next = definition === undefined ? undefined : nextTick(source, state, definition, now);
  const { lastRunAt, lastError } = latest ?? {};
  return {
    state,
    problem: problemResponse(problem),
    last_run_at: lastRunAt === undefined ? null : epochSeconds(lastRunAt),
    last_error:
      lastError === undefined ? null : { code: lastError.code ?? null, message: errorLine(lastError), at: epochSeconds(lastError.at) },
    next_tick_at: next === undefined ? null : epochSeconds(next),
    backlog: backlog ?? null,
  };
}

/** Undefined without timers, and while no deployment could tick. */
function nextTick(source: SourceResource, state: HealthState, definition: ComponentDefinition, now: number): number | undefined {
  const { spec, status } = asItRuns(source);
  if (state === "paused" || state === "disabled" || status.deployment === undefined) return undefined;
  try {
    return nextTickOf(definition, spec.props, now, status.updatedAt);
  } catch (error) {
    if (error instanceof InvalidInput) return undefined; // The spec cannot be deployed, which `problem` reports.
    throw error;
  }
}
