import { setTimeout as sleep } from "node:timers/promises";
import { SandboxChild } from "./child-process.ts";
import type { ChildrenSettings } from "./children.ts";
import type { Sandbox } from "./port.ts";

/** Waits before another child is started, doubled for each that was lost young. */
const backoffMs = { first: 200, most: 5_000, resetAfter: 10_000 };

/**
 * One child for all owners whose runs cost processes or fill their memory: the others' children stay whole and warm. It is started when it is needed, gives
 * way to everything else, and when it is lost again and again its next start waits longer and longer: starts cost a neighbour's time too.
 */
export class Quarantine {
  readonly #settings: ChildrenSettings;
  #child: SandboxChild | undefined;
  /** Lost ones that still end what they had begun. */
  readonly #retired = new Set<SandboxChild>();
  #starting: Promise<SandboxChild> | undefined;
  #startedAt = 0;
  #lostInRow = 0;
  readonly #stop = new AbortController();
  #end: NodeJS.Timeout | undefined;

  constructor(settings: ChildrenSettings) {
    this.#settings = settings;
  }

  get child(): SandboxChild | undefined {
    return this.#child;
  }

  readonly execute: Sandbox["execute"] = async (...execution) => (await this.#ready()).execute(...execution);

  stop(): void {
    this.#stop.abort();
    clearTimeout(this.#end);
    for (const child of [...this.#retired, ...(this.#child === undefined ? [] : [this.#child])]) child.kill();
  }

  #ready(): Promise<SandboxChild> | SandboxChild {
    if (this.#child !== undefined) return this.#child;
    this.#starting ??= this.#start().finally(() => (this.#starting = undefined));
    return this.#starting;
  }

  async #start(): Promise<SandboxChild> {
    if (this.#lostInRow > 0) {
      const waitMs = Math.min(backoffMs.most, backoffMs.first * 2 ** (this.#lostInRow - 1));
      // When it is told to stop, what waits begins in a child that ends with it.
      await sleep(waitMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
    const child: SandboxChild = new SandboxChild({
      ...this.#settings.child,
      givesWay: true,
      onLost: (reason) => this.#lose(child, reason),
    });
    this.#startedAt = Date.now();
    this.#child = child;
    if (this.#stop.signal.aborted) child.kill();
    this.#endInTime(child);
    return child;
  }

  #lose(child: SandboxChild, reason: string): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    for (const retired of this.#retired) if (retired.inFlight === 0) this.#retired.delete(retired);
    this.#retired.add(child);
    this.#lostInRow = Date.now() - this.#startedAt > backoffMs.resetAfter ? 1 : this.#lostInRow + 1;
    clearTimeout(this.#end);
    if (!this.#stop.signal.aborted)
      this.#settings.logger?.warn({ op: "sandbox.quarantine_lost", pid: child.pid, reason }, "the quarantined sandbox child is lost");
  }

  /** When nobody is held any more and it has nothing to do, it goes. */
  #endInTime(child: SandboxChild): void {
    const look = (): void => {
      if (this.#settings.culprits.lastUntil > Date.now() || child.inFlight > 0) return this.#endInTime(child);
      this.#child = undefined;
      child.kill();
    };
    this.#end = setTimeout(look, 30_000).unref();
  }
}
