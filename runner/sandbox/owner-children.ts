import { SandboxChild } from "./child-process.ts";
import type { ChildrenSettings, SandboxChildren } from "./children.ts";
import type { Inspection, InspectRequest } from "./port.ts";

/** How long an owner keeps its child to itself while others wait for one. */
const turnMs = 1_000;

interface Held {
  readonly owner: string;
  readonly child: SandboxChild;
  readonly since: number;
  lastUsedAt: number;
  using: number;
}

interface Waiting {
  readonly owner: string;
  readonly begin: (held: Held) => void;
}

/**
 * A child for each owner, and never another's isolate in it: whoever breaks out of an isolate, kills the process or fills its memory
 * finds nobody but himself. An owner's child is ended, not handed on, when another owner needs its place. Owners that wait for a place
 * get it in turn: who has had his child for a second then begins nothing in it before them.
 */
export class OwnerChildren implements SandboxChildren {
  readonly #most: number;
  readonly #settings: ChildrenSettings;
  readonly #held = new Map<string, Held>();
  /** Lost ones that still end what they had begun. */
  readonly #retired = new Set<SandboxChild>();
  readonly #inspecting = new Set<SandboxChild>();
  readonly #waiting: Waiting[] = [];
  /** Started and never used, so that a start is not waited for. */
  #spare: SandboxChild;
  #stopped = false;

  private constructor(most: number, settings: ChildrenSettings) {
    this.#most = most;
    this.#settings = settings;
    this.#spare = this.#start();
  }

  /** @param most children at once, each of one owner; one more is kept ready. Resolves when that one can run. */
  static async start(most: number, settings: ChildrenSettings): Promise<OwnerChildren> {
    const children = new OwnerChildren(most, settings);
    try {
      await children.#spare.ready;
      await settings.cachesWritten();
    } catch (error) {
      children.stop();
      throw error;
    }
    return children;
  }

  readonly execute: SandboxChildren["execute"] = async (request, ...told) => {
    const held = await this.#take(request.owner);
    try {
      return await held.child.execute(request, ...told);
    } finally {
      this.#release(held);
    }
  };

  /** Nobody knows whose a bundle is: each has a process of its own. */
  readonly inspect = async (request: InspectRequest): Promise<Inspection> => {
    const child = this.#takeSpare();
    this.#inspecting.add(child);
    try {
      return await child.inspect(request);
    } finally {
      this.#inspecting.delete(child);
      child.kill();
    }
  };

  alive(): readonly SandboxChild[] {
    return [...[...this.#held.values()].map(({ child }) => child), ...this.#inspecting, this.#spare];
  }

  stop(): void {
    this.#stopped = true;
    for (const child of [...this.alive(), ...this.#retired]) child.kill();
    for (const { owner, begin } of this.#waiting.splice(0)) begin(this.#hold(owner));
  }

  #take(owner: string): Promise<Held> | Held {
    const held = this.#held.get(owner);
    const isOthersTurn = this.#waiting.length > 0 && (held === undefined || Date.now() - held.since > turnMs);
    if (!isOthersTurn) {
      const found = held ?? this.#place(owner);
      if (found !== undefined) return use(found);
    }
    return new Promise((resolve) => this.#waiting.push({ owner, begin: (given) => resolve(use(given)) }));
  }

  /** A child for an owner that has none, if there is a place for it. */
  #place(owner: string): Held | undefined {
    if (this.#held.size < this.#most) return this.#hold(owner);
    const [idle] = [...this.#held.values()].filter(({ using }) => using === 0).sort((a, b) => a.lastUsedAt - b.lastUsedAt);
    if (idle === undefined) return undefined;
    this.#held.delete(idle.owner);
    idle.child.kill();
    return this.#hold(owner);
  }

  #hold(owner: string): Held {
    const now = Date.now();
    const held: Held = { owner, child: this.#takeSpare(), since: now, lastUsedAt: now, using: 0 };
    this.#held.set(owner, held);
    return held;
  }

  #release(held: Held): void {
    held.using -= 1;
    held.lastUsedAt = Date.now();
    if (this.#retired.has(held.child) && held.using === 0) this.#retired.delete(held.child);
    this.#serve();
  }

  /** Those that wait, in turn, as far as there are places. */
  #serve(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const held = this.#held.get(next.owner) ?? this.#place(next.owner);
      if (held === undefined) return;
      this.#waiting.shift();
      next.begin(held);
    }
  }

  /** A lost one told so already: whoever had it would keep it for ever. */
  #takeSpare(): SandboxChild {
    const child = this.#spare.isLost && !this.#stopped ? this.#start() : this.#spare;
    if (!this.#stopped) this.#spare = this.#start();
    return child;
  }

  #start(): SandboxChild {
    const child: SandboxChild = new SandboxChild({ ...this.#settings.child, onLost: (reason) => this.#lose(child, reason) });
    return child;
  }

  #lose(child: SandboxChild, reason: string): void {
    const held = [...this.#held.values()].find((one) => one.child === child);
    if (this.#stopped || (held === undefined && child !== this.#spare)) return;
    this.#settings.logger?.warn({ op: "sandbox.child_lost", pid: child.pid, reason }, "a sandbox child is replaced");
    if (held === undefined) return void setTimeout(() => this.#renewSpare(child), respawnMs);
    this.#held.delete(held.owner);
    if (held.using > 0) this.#retired.add(child);
    this.#serve();
  }

  #renewSpare(lost: SandboxChild): void {
    if (!this.#stopped && this.#spare === lost) this.#spare = this.#start();
  }
}

/** A spare that cannot start is not tried faster. */
const respawnMs = 1_000;

function use(held: Held): Held {
  held.using += 1;
  return held;
}
