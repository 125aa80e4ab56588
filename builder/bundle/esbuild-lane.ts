import { stop } from "esbuild";
import { FairSemaphore } from "../../domain/limits/fair-semaphore.ts";
import { refuse } from "../errors.ts";
import { formatBytes } from "../limits.ts";
import { maxMemoryBytes, residentBytesOfEsbuild } from "../cache/process-memory.ts";

const watchMs = 100;

/** Runs one use of esbuild at a time, with owners in turn, and restarts esbuild after a use that ended its process. */
export interface EsbuildLane {
  /** @throws InvalidInput `code_too_complex` when esbuild crashed, exceeded `timeoutMs`, or exceeded its memory. */
  run<T>(owner: string, work: () => Promise<T>, timeoutMs: number): Promise<T>;
  /** Waits for the uses in progress, then ends esbuild's process unless another lane uses it. */
  stop(): Promise<void>;
}

/** esbuild has one process for all lanes of this process, which must not end while any of them uses it. */
let users = 0;
let resting: NodeJS.Timeout | undefined;

/**
 * All builds share one esbuild process. Code nested a hundred thousand levels deep overflows its stack, some code keeps it busy for
 * minutes, and after a crash it does not restart until `stop` is called. One use at a time, so that a crash has one cause and fails no
 * other build. The process starts with the first use and ends after `idleMs` without one.
 */
export function createEsbuildLane({ idleMs = 5 * 60_000 }: { readonly idleMs?: number } = {}): EsbuildLane {
  const lane = new FairSemaphore({ permits: 1, permitsPerKey: 1 });
  return {
    run: async (owner, work, timeoutMs) => {
      clearTimeout(resting);
      users += 1;
      try {
        return await lane.use(owner, () => survive(work, timeoutMs));
      } finally {
        users -= 1;
        clearTimeout(resting);
        // An idle process takes 12 MB; it starts again within a build.
        if (users === 0) resting = setTimeout(() => void stop(), idleMs).unref();
      }
    },
    stop: async () => {
      await lane.whenIdle();
      if (users > 0) return;
      clearTimeout(resting);
      await stop();
    },
  };
}

async function survive<T>(work: () => Promise<T>, timeoutMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  // Ending its process is the only way to interrupt esbuild, and leaves its pending calls without a response.
  const end = (why: string): void => {
    void stop();
    reject(tooComplex(why));
  };
  const timer = setTimeout(() => end(` in ${timeoutMs / 1_000} s`), timeoutMs);
  // A few lines of code can make esbuild multiply texts until the machine has no memory left.
  const watch = setInterval(() => {
    void residentBytesOfEsbuild().then((bytes) => bytes > maxMemoryBytes && end(` with ${formatBytes(maxMemoryBytes)} of memory`));
  }, watchMs);
  try {
    return await Promise.race([work(), late]);
  } catch (error) {
    if (!isEnd(error)) throw error;
    await stop();
    throw tooComplex(": it is nested too deeply", error);
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
  }
}

const tooComplex = (why: string, cause?: unknown): Error =>
  refuse("code_too_complex", `the code, or a package it imports, is too complex to be bundled${why}`, {}, cause);

/** esbuild's message for each call that was pending when its process ended. */
const isEnd = (error: unknown): boolean => error instanceof Error && /^The service (was stopped|is no longer running)/.test(error.message);
