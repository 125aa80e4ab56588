import { pause } from "../../../domain/retry.ts";
import { startError } from "./child-outcomes.ts";
import type { SandboxChild } from "./child-process.ts";
import type { Children } from "./children.ts";
import type { Suspects } from "./suspects.ts";

export interface ExclusiveOptions {
  /** Children at once, each of one owner. */
  readonly maxChildren: number;
  /** A child without work is ended after this time, ms. Absent: only when another owner needs its place. */
  readonly idleMs?: number;
  /** Keeps one more child ready, so that an owner need not wait for its start. */
  readonly hasSpare?: boolean;
}

/** How long an owner may begin work in its child while other owners wait for a place, ms. */
const turnMs = 1_000;

/** An owner's child. */
interface Held {
  readonly owner: string;
  readonly child: SandboxChild;
  readonly since: number;
  lastUsedAt: number;
  inFlight: number;
  /** What is in flight must have the child to itself. */
  isSole: boolean;
  idleTimer?: NodeJS.Timeout;
}

interface Waiting {
  readonly owner: string;
  readonly isSole: boolean;
  readonly begin: (held: Held) => void;
  readonly fail: (error: Error) => void;
}

/**
 * Children that each belong to one owner, started on demand. No child is ever handed on to another owner.
 *
 * Owners that wait for a place get one in turn: an idle child is ended to make room, and an owner that has held its child for a second
 * begins nothing more in it before them.
 */
export class ExclusiveChildren {
  readonly #options: ExclusiveOptions;
  readonly #children: Children;
  readonly #suspects: Suspects;
  readonly #held = new Map<string, Held>();
  #waiting: Waiting[] = [];
  readonly #stop = new AbortController();
  /** Ready, and never used. */
  #spare: SandboxChild | undefined;

  constructor(options: ExclusiveOptions, children: Children, suspects: Suspects) {
    this.#options = options;
    this.#children = children;
    this.#suspects = suspects;
  }

  /** Resolves when the first owner can run something. @throws Unavailable if no child can be started */
  async start(): Promise<void> {
    this.#refillSpare();
    await this.#spare?.ready;
  }

  /**
   * Runs an action in the owner's child.
   *
   * @param isSole nothing else may run in the child at the same time, so that its death has one culprit
   * @throws Unavailable if the child cannot be started
   */
  async run<Result>(owner: string, isSole: boolean, act: (child: SandboxChild) => Promise<Result>): Promise<Result> {
    const delayMs = this.#held.has(owner) ? 0 : this.#suspects.startDelayMs(owner);
    if (delayMs > 0) await pause(delayMs, this.#stop.signal);
    const held = await new Promise<Held>((begin, fail) => {
      this.#waiting.push({ owner, isSole, begin, fail });
      this.#serve();
    });
    try {
      return await act(held.child);
    } finally {
      this.#release(held);
    }
  }

  stop(): void {
    this.#stop.abort();
    for (const { idleTimer } of this.#held.values()) clearTimeout(idleTimer);
    this.#serve();
  }

  /** Begins whatever may begin now, in order of arrival. */
  #serve(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    const blockedOwners = new Set<string>();
    let isPlaceWanted = false;
    for (const next of waiting) {
      const held = blockedOwners.has(next.owner) ? undefined : this.#tryTake(next, isPlaceWanted);
      if (held instanceof Error) next.fail(held);
      else if (held !== undefined) next.begin(held);
      else {
        this.#waiting.push(next);
        blockedOwners.add(next.owner);
        isPlaceWanted ||= !this.#held.has(next.owner);
      }
    }
  }

  #tryTake({ owner, isSole }: Waiting, isPlaceWanted: boolean): Held | Error | undefined {
    if (this.#stop.signal.aborted) return startError("the sandbox is stopped");
    const own = this.#held.get(owner);
    if (own !== undefined && isPlaceWanted && Date.now() - own.since > turnMs) return undefined;
    if (own !== undefined && (own.isSole || (isSole && own.inFlight > 0))) return undefined;
    if (own === undefined && this.#children.startFailure !== undefined) return startError(this.#children.startFailure);
    if (own === undefined && !this.#makeRoom()) return undefined;
    const held = own ?? this.#hold(owner);
    clearTimeout(held.idleTimer);
    held.inFlight += 1;
    held.isSole = isSole;
    return held;
  }

  /** Returns whether there is a place for one more child. Ends the one that has been idle for longest if need be. */
  #makeRoom(): boolean {
    if (this.#held.size < this.#options.maxChildren) return true;
    const [idle] = [...this.#held.values()].filter(({ inFlight }) => inFlight === 0).sort((a, b) => a.lastUsedAt - b.lastUsedAt);
    if (idle !== undefined) this.#end(idle);
    return idle !== undefined;
  }

  #hold(owner: string): Held {
    const now = Date.now();
    const child = this.#takeSpare(owner) ?? this.#start(this.#suspects.has(owner));
    const held: Held = { owner, child, since: now, lastUsedAt: now, inFlight: 0, isSole: false };
    this.#held.set(owner, held);
    return held;
  }

  #release(held: Held): void {
    held.inFlight -= 1;
    held.isSole = false;
    held.lastUsedAt = Date.now();
    const { idleMs } = this.#options;
    if (held.inFlight === 0 && idleMs !== undefined) held.idleTimer = setTimeout(() => this.#end(held), idleMs).unref();
    this.#serve();
  }

  #end(held: Held): void {
    clearTimeout(held.idleTimer);
    if (this.#held.get(held.owner) === held) this.#held.delete(held.owner);
    held.child.kill();
  }

  #start(isLowPriority: boolean): SandboxChild {
    return this.#children.start({ isLowPriority, onLost: (lost) => this.#forget(lost) });
  }

  /** A lost child ends what it has in flight; its owner's next work gets a new one. */
  #forget(lost: SandboxChild): void {
    if (this.#spare === lost) {
      this.#spare = undefined;
      this.#children.whenStartable(() => this.#refillSpare());
    }
    const held = [...this.#held.values()].find(({ child }) => child === lost);
    if (held !== undefined) this.#held.delete(held.owner);
    this.#serve();
  }

  /** Suspects get no spare: theirs must run at a low priority from the start. */
  #takeSpare(owner: string): SandboxChild | undefined {
    if (this.#spare === undefined || this.#suspects.has(owner)) return undefined;
    const child = this.#spare;
    this.#refillSpare();
    return child;
  }

  #refillSpare(): void {
    if (this.#options.hasSpare === true && !this.#stop.signal.aborted) this.#spare = this.#start(false);
  }
}
