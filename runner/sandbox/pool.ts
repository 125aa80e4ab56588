import { availableParallelism } from "node:os";
import { Unavailable } from "../../domain/errors.ts";
import { prepareChildren } from "./children/child-preparation.ts";
import type { SandboxChild } from "./children/child-process.ts";
import { Children } from "./children/children.ts";
import { ExclusiveChildren } from "./children/exclusive-children.ts";
import type { Execution, Inspection, Sandbox, SandboxStats } from "./port.ts";
import type { SandboxOptions } from "./sandbox-options.ts";
import { SharedChildren } from "./children/shared-children.ts";
import { SourcesApart, Suspects } from "./children/suspects.ts";
import { repeatedRequest } from "./repeated-request.ts";
import { aborted } from "../../domain/retry.ts";

/** How long an idle exclusive child lives beside shared ones. It holds at least 45 MB, and its start takes half a second. */
const exclusiveIdleMs = 10_000;

/** Starts the children and resolves when they can run. @throws Unavailable if they cannot be started */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { child, evictions } = await prepareChildren(options);
  const children = new Children({ child, logger: options.logger });
  const suspects = new Suspects();
  try {
    const { ownerProcesses = 0, children: count = availableParallelism() } = options;
    const isShared = ownerProcesses === 0;
    const exclusiveOptions = isShared
      ? { maxChildren: Math.max(2, count), idleMs: exclusiveIdleMs }
      : { maxChildren: ownerProcesses, hasSpare: true };
    const exclusive = new ExclusiveChildren(exclusiveOptions, children, suspects);
    await exclusive.start();
    const shared = isShared ? await SharedChildren.start(count, children) : undefined;
    return sandboxOf({ children, shared, exclusive, suspects, evictions });
  } catch (error) {
    children.stop();
    throw error;
  }
}

interface Parts {
  readonly children: Children;
  /** Absent: every owner has an exclusive child. */
  readonly shared: SharedChildren | undefined;
  readonly exclusive: ExclusiveChildren;
  readonly suspects: Suspects;
  readonly evictions: () => number;
}

function sandboxOf(parts: Parts): Sandbox {
  const { children, exclusive, suspects } = parts;
  const work = new WorkInProgress();
  const apart = new SourcesApart();
  return {
    execute: async (request, onResponse, onPause) => {
      const { owner, source, alone = false } = request;
      const isApart = alone || apart.has(source);
      const execution = await work.track(() =>
        perform(parts, work, { owner, key: source, isAlone: alone }, (child, isRepeated) =>
          child.execute(isRepeated ? repeatedRequest(request) : request, isApart, { onResponse, onPause }),
        ),
      );
      if (execution.outcome === "limited" && execution.endedIsolate === true) apart.add(source);
      if (costProcess(execution) || isMemoryLimit(execution)) suspects.add(owner, costProcess(execution));
      return execution;
    },
    inspect: (request) => {
      const { owner = "", bundle } = request;
      return work.track(() => perform(parts, work, { owner, key: bundle.hash, isAlone: false }, (child) => child.inspect(request)));
    },
    evict: (source) => {
      for (const child of children.live) child.evict(source);
    },
    stats: () => statsOf(parts),
    stop: (signal) =>
      work.stop(signal, () => {
        exclusive.stop();
        children.stop();
      }),
  };
}

interface Placement {
  readonly owner: string;
  /** Owners' work with the same key goes to the same shared child while possible: a source, or the hash of a bundle. */
  readonly key: string;
  /** Runs at once in an exclusive child in which nothing else runs. */
  readonly isAlone: boolean;
}

/** Performs an action in the owner's child. After a crash it is repeated once where nothing else runs, because other work may have crashed the child. */
async function perform<Result extends Execution | Inspection>(
  { shared, exclusive, suspects }: Parts,
  work: WorkInProgress,
  { owner, key, isAlone }: Placement,
  action: (child: SandboxChild, isRepeated: boolean) => Promise<Result>,
): Promise<Result> {
  const first = (child: SandboxChild): Promise<Result> => action(child, false);
  if (!isAlone) {
    const isExclusive = shared === undefined || suspects.has(owner);
    const result = isExclusive ? await exclusive.run(owner, false, first) : await first(shared.choose(owner, key));
    if (!hasCrashed(result)) return result;
  }
  if (work.isKilled) throw stoppedError();
  return await exclusive.run(owner, true, isAlone ? first : (child) => action(child, true));
}

/**
 * The executions and inspections in progress.
 *
 *     running ── stop ──▶ stopping: refuses new work ── all ended, or the signal aborts ──▶ killed
 */
class WorkInProgress {
  readonly #running = new Set<Promise<unknown>>();
  #isStopping = false;
  #isKilled = false;

  get isKilled(): boolean {
    return this.#isKilled;
  }

  /** Awaits the work. A crash or failed start that our own stop has caused is no outcome: it throws `sandbox_stopped`. */
  async track<Result extends Execution | Inspection>(start: () => Promise<Result>): Promise<Result> {
    if (this.#isStopping) throw stoppedError();
    const work = start();
    this.#running.add(work);
    try {
      const result = await work;
      if (this.#isKilled && hasCrashed(result)) throw stoppedError();
      return result;
    } catch (error) {
      throw this.#isKilled ? stoppedError() : error;
    } finally {
      this.#running.delete(work);
    }
  }

  /** @param kill ends the child processes */
  async stop(signal: AbortSignal, kill: () => void): Promise<void> {
    this.#isStopping = true;
    await Promise.race([Promise.allSettled(this.#running), aborted(signal)]);
    this.#isKilled = true;
    kill();
    await Promise.allSettled(this.#running);
  }
}

function statsOf({ children, evictions }: Parts): SandboxStats {
  const { live, startFailure, startFailures } = children;
  return {
    children: live.length,
    isolates: live.reduce((sum, child) => sum + child.warm.isolates, 0),
    sources: live.reduce((sum, child) => sum + child.warm.sources, 0),
    residentBytes: live.reduce((sum, child) => sum + child.residentBytes, 0),
    evictions: evictions(),
    startFailure,
    startFailures,
  };
}

function hasCrashed(result: Execution | Inspection): boolean {
  return result.outcome === "crashed" || (result.outcome === "rejected" && result.code === "crashed");
}

function costProcess(result: Execution | Inspection): boolean {
  return (result.outcome === "crashed" || result.outcome === "limited") && result.costProcess === true;
}

function isMemoryLimit(execution: Execution): boolean {
  return execution.outcome === "limited" && execution.error.code === "memory_limit";
}

function stoppedError(): Unavailable {
  return new Unavailable("the sandbox is stopped", { code: "sandbox_stopped" });
}
