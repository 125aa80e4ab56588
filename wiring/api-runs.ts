import type { ManualRun, Runs } from "../api/ports.ts";
import { systemClock } from "../domain/clock.ts";
import { parseDryRunOutcome, type DryRunOutcome } from "../domain/dry-run.ts";
import { UserCode } from "../domain/errors.ts";
import { encodePack, type Invocation } from "../domain/invocation.ts";
import { partitionOf } from "../domain/partition.ts";
import { invokeSubject } from "../domain/subjects.ts";
import type { Asker } from "../platform/jetstream/answers.ts";
import type { Connection } from "../platform/jetstream/connection.ts";

/** The runs that the API asks for. */
export function runsOf({ publisher }: Pick<Connection, "publisher">, asker: Asker): Runs {
  const publish = async (pool: string, invocation: Invocation, messageId: string): Promise<void> => {
    const { source } = invocation;
    await publisher.publish(invokeSubject(pool, partitionOf(source), source), encodePack([JSON.stringify(invocation)]), { messageId });
  };
  return {
    run: async ({ run, source, pool, generation, event, metadata, trace }, signal) => {
      const { subject, answer } = asker.wait(run, "run", signal);
      const given = { ...eventOf({ event, metadata }), ...trace };
      await publish(pool, { source, trigger: "manual", run, generation, answerTo: subject, ...given }, `run.${run}`);
      return { ended: answer.then((answered) => answered?.run) };
    },
    dryRun: async ({ run, source, pool, generation, event, metadata, timeoutMs }) => {
      const deadline = systemClock.now() + timeoutMs;
      const { subject, answer } = asker.wait(run, "dry-run", AbortSignal.timeout(timeoutMs));
      const given = eventOf({ event, metadata });
      const dryRun = { source, deadline };
      await publish(pool, { source: run, trigger: "dry-run", run, dryRun, generation, answerTo: subject, ...given }, `dry.${run}`);
      return { outcome: answer.then((answered) => (answered === undefined ? undefined : outcomeOf(answered.outcome))) };
    },
  };
}

function outcomeOf(answer: unknown): DryRunOutcome {
  const outcome = parseDryRunOutcome(answer);
  if (outcome === undefined) throw new UserCode("the runner's answer has not the form of what a run leaves", { code: "invalid_answer" });
  return outcome;
}

const eventOf = ({ event, metadata }: { event: unknown; metadata: ManualRun["metadata"] }): Pick<Invocation, "event" | "metadata"> => ({
  ...(event === undefined ? {} : { event }),
  ...(metadata === undefined ? {} : { metadata }),
});
