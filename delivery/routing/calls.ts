import type { Invocation } from "../../domain/invocation/invocation.ts";
import type { Commit } from "../../domain/run/commit.ts";
import { traceContext } from "../../domain/traces.ts";
import { calledRun, type Caller, type Returned } from "../../domain/workflow/call.ts";
import type { Delivery } from "./delivery.ts";

type BetweenRuns = NonNullable<Delivery["event"]["invocation"]>;

const channel = "$call";

/** A call of a workflow, the end of a run that was called, and its cancellation with its caller: see domain/workflow/call.ts. */
export function callsOf(commit: Commit): readonly Delivery[] {
  const { source, run, workflow } = commit;
  if (workflow === undefined) return [];
  const { call, returns, cancels = [], number } = workflow;
  const deliveries: Delivery[] = [];
  if (call !== undefined) {
    const { id, workflow: called, event, suspension } = call;
    const caller = suspension === undefined ? undefined : { workflow: source, run: run.id, suspension };
    deliveries.push(deliveryTo(called, id, event, { run: calledRun(id), ...(caller === undefined ? {} : { caller }) }, commit));
  }
  if (returns !== undefined) deliveries.push(returnTo(returns.to, returns.returned, commit));
  for (const [index, { workflow: called, run: waited }] of [cancels].flat().entries()) {
    const control = { run: waited, action: "cancel", reason: `run ${run.id}, which had called it, has ended` } as const;
    deliveries.push(deliveryTo(called, `${run.id}-x${number}-${index}`, "null", { run: waited, control }, commit));
  }
  return deliveries;
}

export const isCall = ({ subscription, listener, event }: Delivery): boolean => subscription === listener && event.channel === channel;

/** What the caller gets in place of the end of a run that cannot begin. */
export function refusedCall({ id, event }: Delivery, caller: Caller, returned: Returned): Delivery {
  const { hops: _, way: __, ...about } = event;
  const invocation: BetweenRuns = { resume: resumeOf(caller), returned };
  return { id: `${id}-refused`, ...toWorkflow(caller.workflow), event: { ...about, payload: "null", invocation }, attempt: 1 };
}

function returnTo(caller: Caller, returned: Returned, commit: Commit): Delivery {
  // The caller goes on as the run that it is: it is no further away from the first event.
  const { hops: _, way: __, ...own } = commit;
  return deliveryTo(caller.workflow, `${commit.run.id}-end`, "null", { resume: resumeOf(caller), returned }, own);
}

const resumeOf = ({ run, suspension }: Caller): NonNullable<Invocation["resume"]> => ({ run, suspension, action: "resume" });

const toWorkflow = (workflow: string): Pick<Delivery, "subscription" | "listener"> => ({ subscription: workflow, listener: workflow });

/** The run takes the place of an event. @param payload JSON text */
function deliveryTo(workflow: string, id: string, payload: string, invocation: BetweenRuns, commit: Commit): Delivery {
  const { source, owner, run, hops, way } = commit;
  return {
    id,
    ...toWorkflow(workflow),
    event: {
      emitId: id,
      eventId: run.id,
      source,
      owner,
      channel,
      ts: run.startedAt + Math.round(run.durationMs),
      payload,
      ...(hops === undefined ? {} : { hops }),
      ...(way === undefined ? {} : { way }),
      ...traceContext(commit),
      invocation,
    },
    attempt: 1,
  };
}
