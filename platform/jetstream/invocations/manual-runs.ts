import { randomUUID } from "node:crypto";
import type { ManualRun, Runs, WorkflowTests } from "../../../api/ports.ts";
import { systemClock } from "../../../domain/clock.ts";
import { parseDryRunOutcome, type DryRun } from "../../../domain/invocation/dry-run.ts";
import { parseWorkflowTestOutcome, type WorkflowTest } from "../../../domain/workflow/test-run.ts";
import type { Deployment } from "../../../domain/source/deployment.ts";
import type { AdmissionGate } from "../../../domain/limits/admission.ts";
import { Conflict, NotFound, QuotaUsedUp, UserCode } from "../../../domain/errors.ts";
import { kindOfId } from "../../../domain/ids.ts";
import type { Invocation, NotRunReason } from "../../../domain/invocation/invocation.ts";
import { tickEvent } from "../../../domain/invocation/manual-event.ts";
import type { RunAnswers } from "../requests/run-answers.ts";
import type { Connection } from "../connection/connection.ts";
import { publishInvocation } from "./publish-invocation.ts";

const retryAfterMs = 1_000;

type DryRequest = ManualRun & { readonly timeoutMs: number; readonly test?: WorkflowTest; readonly draft?: Deployment };

/** Runs and dry runs that the API requests. They count towards the backlogs of their source and owner, as requests to endpoints do. */
export function createManualRuns(
  connection: Pick<Connection, "publisher">,
  answers: RunAnswers,
  admission: Pick<AdmissionGate, "admits">,
): Runs & { readonly testWorkflow: WorkflowTests["request"] } {
  const publish = async (
    request: Pick<ManualRun, "source" | "owner" | "pool">,
    invocation: Invocation,
    messageId: string,
  ): Promise<void> => {
    const text = JSON.stringify(invocation);
    if (!admission.admits(request, text.length, performance.now()))
      throw new QuotaUsedUp(
        `too many invocations of ${request.source} or its owner wait to run: try again as Retry-After says`,
        retryAfterMs,
        {
          code: "backlog_full",
        },
      );
    await publishInvocation(connection, { pool: request.pool, source: invocation.source, text, messageId });
  };
  const dry = async (request: DryRequest, kind: "dry-run" | "workflow-test"): Promise<Answered> => {
    const { run, source, generation, event, metadata, timeoutMs, test, draft } = request;
    const dryRun: DryRun = {
      source,
      deadline: systemClock.now() + timeoutMs,
      ...(test === undefined ? {} : { workflow: test }),
      ...(draft === undefined ? {} : { draft }),
    };
    const { subject, answer } = answers.wait(run, kind, AbortSignal.timeout(timeoutMs));
    const given = eventOf({ event, metadata });
    await publish(request, { source: run, trigger: "dry-run", run, dryRun, generation, answerTo: subject, ...given }, `dry.${run}`);
    return { promise: answer };
  };
  return {
    run: async (request, signal) => {
      const { run, source, generation, event, metadata, trace, repeats } = request;
      const { subject, answer } = answers.wait(run, ["run", "not-run"], signal);
      const given = { ...eventOf({ event, metadata }), ...trace, ...(repeats === undefined ? {} : { repeats }) };
      await publish(request, { source, trigger: "manual", run, generation, answerTo: subject, ...given }, `run.${run}`);
      return { ended: answer.then((answered) => (answered?.kind === "not-run" ? refuse(request, answered.reason) : answered?.run)) };
    },
    dryRun: async (request) => ({ outcome: checked(await dry(request, "dry-run"), parseDryRunOutcome) }),
    control: (request) => {
      const { source, control } = request;
      // A runner of an earlier version knows no controls, and would start a run for it: by its id it finds the run that exists.
      const invocation: Invocation = { source, trigger: "control", run: control.run, control };
      return publish(request, invocation, `control.${randomUUID()}`);
    },
    backfill: (request) => {
      const { source, generation, id, schedule, firstAt, backfill } = request;
      const tick = {
        source,
        trigger: "timer",
        generation,
        chain: `backfill-${id}`,
        at: firstAt,
        event: tickEvent(schedule),
        backfill,
      } as const;
      return publish(request, tick, `backfill.${id}`);
    },
    testWorkflow: async (request) => ({ outcome: checked(await dry(request, "workflow-test"), parseWorkflowTestOutcome) }),
  };
}

/** The source was paused or deleted before the run began. */
function refuse({ run, source }: ManualRun, reason: NotRunReason): never {
  const kind = kindOfId(source) === "workflow" ? "workflow" : "source";
  if (reason === "deleted") throw new NotFound(`record not found: ${kind} ${source} was deleted before run ${run} began`);
  const request = kind === "workflow" ? `PUT /v1/workflows/${source}` : `PUT /v1/sources/${source}`;
  throw new Conflict(
    `${kind} ${source} was paused before run ${run} began, which therefore does not run: activate it with ${request} and {"active": true}`,
    { code: `${kind}_inactive` },
  );
}

/** @throws UserCode if the runner's answer is invalid */
async function checked<Outcome>(answer: Answered, parse: (value: unknown) => Outcome | undefined): Promise<Outcome | undefined> {
  const answered = await answer.promise;
  if (answered === undefined) return undefined;
  const outcome = parse(answered.outcome);
  if (outcome === undefined) throw new UserCode("the runner's answer is not the outcome of a dry run", { code: "invalid_answer" });
  return outcome;
}

/** In an object, so that an async function can return it without waiting. */
interface Answered {
  readonly promise: Promise<{ readonly outcome: unknown } | undefined>;
}

const eventOf = ({ event, metadata }: { event: unknown; metadata: ManualRun["metadata"] }): Pick<Invocation, "event" | "metadata"> => ({
  ...(event === undefined ? {} : { event }),
  ...(metadata === undefined ? {} : { metadata }),
});
