import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "../telemetry/logger.ts";

/** A process that we started. */
export interface RunningProcess {
  /** Resolves when it has ended, for whatever reason. */
  readonly exited: Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

const firstWaitMs = 200;
const longestWaitMs = 10_000;
/** After this long, an end counts as a first one again. */
const steadyMs = 30_000;

/**
 * Starts a process and starts it again whenever it ends by itself, waiting longer each time. The first start must
 * succeed: a mistake in the configuration is better told than repeated.
 */
export async function keepRunning(name: string, start: () => Promise<RunningProcess>, logger: Logger): Promise<RunningProcess> {
  const stopping = new AbortController();
  let current = await start();
  const exited = (async () => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      const startedAt = Date.now();
      await current.exited;
      if (stopping.signal.aborted) return;
      failures = Date.now() - startedAt > steadyMs ? 1 : failures + 1;
      logger.error({ op: "process.restart", process: name, failures }, `${name} ended unexpectedly and is started again`);
      await startAgain();
    }
    async function startAgain(): Promise<void> {
      while (!stopping.signal.aborted) {
        const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** (failures - 1));
        await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined);
        if (stopping.signal.aborted) return;
        try {
          current = await start();
          // It was stopped while it started.
          if (stopping.signal.aborted) await current.kill();
          return;
        } catch (error) {
          failures++;
          logger.error({ op: "process.restart", process: name, failures, err: error }, `${name} did not start`);
        }
      }
    }
  })();
  const end = async (how: "stop" | "kill"): Promise<void> => {
    stopping.abort();
    await current[how]();
    await exited;
  };
  return { exited, stop: () => end("stop"), kill: () => end("kill") };
}
