import type { ManualRun, Runs } from "../../../api/ports.ts";
import { systemClock } from "../../../domain/clock.ts";
import { parseDryRunOutcome, type DryRunOutcome } from "../../../domain/run/dry-run.ts";
import type { AdmissionGate } from "../../../domain/limits/admission.ts";
import { QuotaUsedUp, UserCode } from "../../../domain/errors.ts";
import type { Invocation } from "../../../domain/invocation/invocation.ts";
import type { RunAnswers } from "../requests/run-answers.ts";
import type { Connection } from "../connection/connection.ts";
import { publishInvocation } from "./publish-invocation.ts";

const retryAfterMs = 1_000;

/** Runs and dry runs that the API requests. They count towards the backlogs of their source and owner, as requests to endpoints do. */
export function createManualRuns(
  connection: Pick<Connection, "publisher">,
  answers: RunAnswers,
  admission: Pick<AdmissionGate, "admits">,
): Runs {
  const publish = async (request: ManualRun, invocation: Invocation, messageId: string): Promise<void> => {
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
  return {
    run: async (request, signal) => {
      const { run, source, generation, event, metadata, trace } = request;
      const { subject, answer } = answers.wait(run, "run", signal);
      const given = { ...eventOf({ event, metadata }), ...trace };
      await publish(request, { source, trigger: "manual", run, generation, answerTo: subject, ...given }, `run.${run}`);
      return { ended: answer.then((answered) => answered?.run) };
    },
    dryRun: async (request) => {
      const { run, source, generation, event, metadata, timeoutMs } = request;
      const deadline = systemClock.now() + timeoutMs;
      const { subject, answer } = answers.wait(run, "dry-run", AbortSignal.timeout(timeoutMs));
      const given = eventOf({ event, metadata });
      const dryRun = { source, deadline };
      await publish(request, { source: run, trigger: "dry-run", run, dryRun, generation, answerTo: subject, ...given }, `dry.${run}`);
      return { outcome: answer.then((answered) => (answered === undefined ? undefined : outcomeOf(answered.outcome))) };
    },
  };
}

function outcomeOf(answer: unknown): DryRunOutcome {
  const outcome = parseDryRunOutcome(answer);
  if (outcome === undefined) throw new UserCode("the runner's answer is not the outcome of a dry run", { code: "invalid_answer" });
  return outcome;
}

const eventOf = ({ event, metadata }: { event: unknown; metadata: ManualRun["metadata"] }): Pick<Invocation, "event" | "metadata"> => ({
  ...(event === undefined ? {} : { event }),
  ...(metadata === undefined ? {} : { metadata }),
});
