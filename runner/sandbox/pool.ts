import { availableParallelism } from "node:os";
import { Unavailable } from "../../domain/errors.ts";
import { prepareChildren } from "./children/child-preparation.ts";
import type { SandboxChild } from "./children/child-process.ts";
import { Children } from "./children/children.ts";
import { ExclusiveChildren } from "./children/exclusive-children.ts";
import type { Execution, Inspection, Sandbox } from "./port.ts";
import type { SandboxOptions } from "./sandbox-options.ts";
import { SharedChildren } from "./children/shared-children.ts";
import { SourcesApart, Suspects } from "./children/suspects.ts";

/** Exclusive children beside shared ones are for suspects and repeated runs. They hold 45 MB and more, and start in half a second. */
const exclusiveIdleMs = 10_000;

/** Starts the children and resolves when they can run. @throws Unavailable if they cannot be started */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { child, cachesWritten, evictions } = await prepareChildren(options);
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
    await cachesWritten();
    const shared = isShared ? await SharedChildren.start(count, children, cachesWritten) : undefined;
    return sandboxOf({ children, shared, exclusive, suspects, evictions });
  } catch (error) {
    children.stop();
    throw error;
  }
}

interface Parts {
  readonly children: Children;
  /** Absent: every owner's child is exclusive. */
  readonly shared: SharedChildren | undefined;
  readonly exclusive: ExclusiveChildren;
  readonly suspects: Suspects;
  readonly evictions: () => number;
}

function sandboxOf({ children, shared, exclusive, suspects, evictions }: Parts): Sandbox {
  const running = new Set<Promise<unknown>>();
  const apart = new SourcesApart();
  let isStopping = false;
  /** Runs may not even finish any more. */
  let isOver = false;

  /** Runs the action. If it crashes, something else may have been the reason: it is repeated once where nothing else runs. */
  async function perform<Result extends Execution | Inspection>(
    { owner, key, isSole }: { readonly owner: string; readonly key: string; readonly isSole: boolean },
    act: (child: SandboxChild) => Promise<Result>,
  ): Promise<Result> {
    if (!isSole) {
      const isExclusive = shared === undefined || suspects.has(owner);
      const result = isExclusive ? await exclusive.run(owner, false, act) : await act(shared.choose(owner, key));
      if (!hasCrashed(result)) return result;
    }
    if (isOver) throw stoppedError();
    return await exclusive.run(owner, true, act);
  }

  /** Follows the work to its end. What crashed or could not start because of our stop has no outcome. */
  async function tracked<Result extends Execution | Inspection>(work: () => Promise<Result>): Promise<Result> {
    if (isStopping) throw stoppedError();
    const working = work();
    running.add(working);
    try {
      const result = await working;
      if (isOver && hasCrashed(result)) throw stoppedError();
      return result;
    } catch (error) {
      throw isOver ? stoppedError() : error;
    } finally {
      running.delete(working);
    }
  }

  return {
    execute: async (request, onResponse, onPause) => {
      const { owner, source, alone = false } = request;
      const isApart = alone || apart.has(source);
      const execution = await tracked(() =>
        perform({ owner, key: source, isSole: alone }, (child) => child.execute(request, isApart, { onResponse, onPause })),
      );
      if (execution.outcome === "limited" && execution.endedIsolate === true) apart.add(source);
      if (costProcess(execution) || isMemoryLimit(execution)) suspects.add(owner, costProcess(execution));
      return execution;
    },
    inspect: (request) => {
      const { owner = "", bundle } = request;
      return tracked(() => perform({ owner, key: bundle.hash, isSole: false }, (child) => child.inspect(request)));
    },
    evict: (source) => {
      for (const child of children.live) child.evict(source);
    },
    stats: () => ({
      children: children.live.length,
      isolates: children.live.reduce((sum, child) => sum + child.warm.isolates, 0),
      sources: children.live.reduce((sum, child) => sum + child.warm.sources, 0),
      residentBytes: children.live.reduce((sum, child) => sum + child.residentBytes, 0),
      evictions: evictions(),
      startFailure: children.startFailure,
      startFailures: children.startFailures,
    }),
    stop: async (signal) => {
      isStopping = true;
      await Promise.race([Promise.allSettled(running), aborted(signal)]);
      isOver = true;
      exclusive.stop();
      children.stop();
      await Promise.allSettled(running);
    },
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

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

function stoppedError(): Unavailable {
  return new Unavailable("the sandbox is stopped", { code: "sandbox_stopped" });
}
