import type { WorkflowResource, WorkflowSpec } from "../../crds/workflow.ts";
import { Conflict } from "../../domain/errors.ts";
import { emptyRequest, tickEvent } from "../../domain/invocation/manual-event.ts";
import { parseTimer } from "../../domain/schedule/schedule.ts";
import { defaultPool } from "../../domain/subjects.ts";
import type { TraceContext } from "../../domain/traces.ts";
import type { ApiContext } from "../context.ts";
import type { ManualRun } from "../ports.ts";
import { publicIdOf } from "../resources/identity.ts";
import { verdictOf } from "../resources/watch/verdict.ts";

interface Requested {
  readonly run: string;
  readonly event: unknown;
  readonly trace: TraceContext | undefined;
}

/** A run or test of the deployed version. @throws Conflict while no version is deployed */
export async function manualRunOf(
  workflow: WorkflowResource,
  { run, event, trace }: Requested,
  { access, ports }: ApiContext,
): Promise<ManualRun> {
  const { metadata, status, spec } = workflow;
  const source = publicIdOf(workflow);
  const verdict = verdictOf(workflow, metadata.generation);
  if (verdict?.outcome !== "ready" && status.deployment === undefined)
    throw new Conflict(`workflow ${source} is not deployed: ${verdict?.message ?? "it is being deployed; try again in a moment"}`, {
      code: "workflow_not_ready",
    });
  const given = event === undefined ? defaultEvent(spec, status.endpoint ?? null, ports.clock.now()) : event;
  return {
    run,
    source,
    owner: (await access.ownerOf(workflow)) ?? source,
    pool: status.pool ?? defaultPool,
    // A previous version runs while a change is not deployed.
    generation: verdict?.outcome === "ready" ? metadata.generation : 0,
    event: given,
    ...(trace === undefined ? {} : { trace }),
  };
}

/** The event of a run without one: what the first timer or HTTP trigger would send, otherwise an empty object. */
function defaultEvent({ triggers }: WorkflowSpec, endpoint: string | null, nowMs: number): unknown {
  for (const { http, timer } of triggers) {
    if (timer !== undefined) return { timestamp: Math.floor(nowMs / 1000), ...tickEvent(parseTimer(timer)) };
    if (http !== undefined) return emptyRequest(endpoint);
  }
  return {};
}
