import type { Answer, Invocation } from "../../../domain/invocation/invocation.ts";
import { answerFilter, answerSubject } from "../../../domain/subjects.ts";
import type { Connection } from "../../../platform/jetstream/connection/connection.ts";
import { invoke, pause } from "./runs.ts";

const token = "bench";
const everyMs = 40;
const timeoutMs = 60_000;

/** Runs sources in turns for a time. @returns how long each run took from being stored to its commit, ms */
export async function responseTimes(connection: Connection, sources: readonly string[], durationMs: number): Promise<readonly number[]> {
  const waiting = new Map<string, { readonly sentAt: number; readonly settle: (ms: number) => void }>();
  const subscription = connection.nats.subscribe(answerFilter(token), {
    callback: (_, message) => {
      const asked = waiting.get(message.subject);
      const { kind } = message.json<Answer>();
      if (kind === "run") asked?.settle(performance.now() - asked.sentAt);
    },
  });
  const times: Promise<number>[] = [];
  for (const endsAt = performance.now() + durationMs; performance.now() < endsAt;) {
    const source = sources[times.length % sources.length] ?? "";
    const answerTo = answerSubject(token, `n${times.length}`);
    const { promise, resolve } = Promise.withResolvers<number>();
    waiting.set(answerTo, { sentAt: performance.now(), settle: resolve });
    const timer = setTimeout(() => resolve(timeoutMs), timeoutMs);
    times.push(promise.finally(() => clearTimeout(timer)));
    const invocation: Invocation = { source, trigger: "manual", at: Date.now(), event: {}, answerTo };
    await invoke(connection, source, [invocation]);
    await pause(everyMs);
  }
  const taken = await Promise.all(times);
  subscription.unsubscribe();
  return taken;
}
