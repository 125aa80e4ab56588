import { backoffMs } from "../../../domain/retry.ts";
import { SandboxChild } from "./child-process.ts";
import type { ChildSettings } from "./child-settings.ts";
import type { SandboxLogger } from "../sandbox-options.ts";

export interface ChildrenOptions {
  readonly child: Omit<ChildSettings, "onReady" | "onLost" | "onExit" | "isLowPriority">;
  readonly logger: SandboxLogger | undefined;
}

export interface StartOptions {
  /** Default false. */
  readonly isLowPriority?: boolean;
  /** The child takes no more work. Not called once everything is stopped. */
  readonly onLost: (child: SandboxChild) => void;
}

const retryDelay = { firstMs: 200, maxMs: 5_000 };

/**
 * Starts every sandbox child, tracks it until its process has ended, and paces starts that fail.
 *
 * While starts fail, one attempt is made at a time, with a growing delay, until one succeeds. A failed start is blamed on no run.
 */
export class Children {
  readonly #options: ChildrenOptions;
  /** All whose processes have not ended, those that drain included. */
  readonly #live = new Set<SandboxChild>();
  /** Callers that wait until a start has a chance again. */
  readonly #waiting: (() => void)[] = [];
  #startFailure: string | undefined;
  #startFailures = 0;
  #failedInRow = 0;
  #retry: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: ChildrenOptions) {
    this.#options = options;
  }

  get live(): readonly SandboxChild[] {
    return [...this.#live];
  }

  /** Why the last start failed; undefined if it succeeded. */
  get startFailure(): string | undefined {
    return this.#startFailure;
  }

  get startFailures(): number {
    return this.#startFailures;
  }

  start({ isLowPriority = false, onLost }: StartOptions): SandboxChild {
    const child: SandboxChild = new SandboxChild({
      ...this.#options.child,
      isLowPriority,
      onReady: () => this.#onReady(),
      onLost: (reason) => {
        if (this.#isStopped) return;
        if (child.wasReady) this.#log("sandbox.child_lost", { pid: child.pid, reason }, "a sandbox child is replaced");
        else this.#onFailedStart(reason);
        onLost(child);
      },
      onExit: () => this.#live.delete(child),
    });
    this.#live.add(child);
    if (this.#isStopped) child.kill();
    return child;
  }

  /** Calls back at once if starts succeed, else when it is this caller's turn to try again. */
  whenStartable(begin: () => void): void {
    if (this.#startFailure === undefined) return begin();
    this.#waiting.push(begin);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#retry);
    this.#waiting.length = 0;
    for (const child of this.#live) child.kill();
  }

  #onReady(): void {
    this.#startFailure = undefined;
    this.#failedInRow = 0;
    for (const begin of this.#waiting.splice(0)) begin();
  }

  #onFailedStart(reason: string): void {
    this.#startFailure = reason;
    this.#startFailures += 1;
    this.#failedInRow += 1;
    this.#log("sandbox.child_start_failed", { reason }, "a sandbox child could not be started");
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#tryAgain(), backoffMs(this.#failedInRow, retryDelay, Math.random()));
  }

  /** Starts a child for the first waiting caller, or only to find out whether children can be started again. */
  #tryAgain(): void {
    const begin = this.#waiting.shift();
    if (begin !== undefined) return begin();
    const probe = this.start({ onLost: () => {} });
    probe.ready.then(
      () => probe.kill(),
      () => undefined, // #onLost has recorded the failure.
    );
  }

  #log(op: string, fields: object, message: string): void {
    this.#options.logger?.warn({ op, ...fields }, message);
  }
}
