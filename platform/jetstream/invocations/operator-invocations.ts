import { encodePack, type Invocation } from "../../../domain/invocation/invocation.ts";
import { parseConfigured } from "../../../domain/component/configured.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { serverSchedule } from "../../../domain/schedule/schedule.ts";
import { dueAtOf } from "../../../domain/schedule/ticks.ts";
import { invokeSubject } from "../../../domain/subjects.ts";
import type { Configurations, Invocations, Timers } from "../../../operator/ports.ts";
import type { Connection } from "../connection/connection.ts";
import type { RunAnswers } from "../requests/run-answers.ts";
import { endTimer, endTimers, setTimer } from "../schedules.ts";
import { countQueued } from "./source-backlogs.ts";
import { publishInvocation } from "./publish-invocation.ts";

const hookAnswerTimeoutMs = 600_000;

/** Timers of sources, as message schedules that NATS turns into invocations. */
export function createTimers(connection: Connection): Timers {
  return {
    set: async (pool, source, prop, schedule, invocation) => {
      const planned = serverSchedule(schedule);
      await setTimer(connection.publisher, {
        source,
        prop,
        schedule: planned.kind === "chain" ? { kind: "at", atMs: dueAtOf(invocation, 0) } : planned,
        target: invokeSubject(pool, partitionOf(source), source),
        body: encodePack([JSON.stringify(invocation)]),
      });
    },
    remove: (source, prop) => endTimer(connection, source, prop),
    end: (source) => endTimers(connection, source),
  };
}

/** Calls of `options` and `additionalProps`, which run in the pool. */
export function createConfigurations(connection: Connection, answers: RunAnswers): Configurations {
  return {
    ask: async (pool, call, configuration, signal) => {
      const { subject, answer } = answers.wait(call, "configured", signal);
      const invocation: Invocation = { source: call, trigger: "configure", configure: configuration, answerTo: subject };
      await publishInvocation(connection, { pool, source: call, text: JSON.stringify(invocation), messageId: `configure.${call}` });
      const answered = await answer;
      return answered === undefined ? undefined : parseConfigured(answered.configured);
    },
  };
}

/** Runs that the operator requests: the hooks of sources. */
export function createHookInvocations(connection: Connection, answers: RunAnswers): Invocations {
  const pending = new Map<string, Promise<unknown>>();
  return {
    request: async (pool, invocation) => {
      const { source, run } = invocation;
      const { subject, answer } = answers.wait(run, "run", AbortSignal.timeout(hookAnswerTimeoutMs));
      pending.set(run, answer);
      void answer.finally(() => pending.delete(run)); // Never rejects.
      const text = JSON.stringify({ ...invocation, answerTo: subject });
      await publishInvocation(connection, { pool, source, text, messageId: `run.${run}` });
    },
    queued: (pool, source) => countQueued(connection, pool, source),
    untilRun: async (run, signal) => {
      await Promise.race([pending.get(run), new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }))]);
    },
  };
}
