import { backoffMs, pause } from "../../domain/retry.ts";
import type { Logger } from "../telemetry/logger.ts";

/** A process started by this one. */
export interface RunningProcess {
  /** Resolves when it has ended, for whatever reason. */
  readonly exited: Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

const restartDelay = { firstMs: 200, maxMs: 10_000 };
/** After running this long, the next failure counts as the first. */
const stableMs = 30_000;

/**
 * Starts a process and restarts it with backoff whenever it ends by itself. The first start must succeed: a configuration error is
 * reported, not retried.
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
      failures = Date.now() - startedAt > stableMs ? 1 : failures + 1;
      logger.error({ op: "process.restart", process: name, failures }, `${name} ended unexpectedly and is restarted`);
      await startAgain();
    }
    async function startAgain(): Promise<void> {
      while (!stopping.signal.aborted) {
        await pause(backoffMs(failures, restartDelay, Math.random()), stopping.signal);
        if (stopping.signal.aborted) return;
        try {
          current = await start();
          // Stopped during the start.
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
