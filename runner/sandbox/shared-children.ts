import { SandboxChild } from "./child-process.ts";
import type { ChildrenSettings, SandboxChildren } from "./children.ts";
import { Quarantine } from "./quarantine.ts";

/** A fixed number of children that owners share, spread by rendezvous hashing. Resolves when all can run. */
export async function startSharedChildren(count: number, settings: ChildrenSettings): Promise<SandboxChildren> {
  // The first makes the code caches when there are none; the others find them.
  const slots = [new Slot(0, settings)];
  try {
    await slots[0]?.child.ready;
    await settings.cachesWritten();
    for (let index = 1; index < count; index++) slots.push(new Slot(index, settings));
    await Promise.all(slots.map((slot) => slot.child.ready));
  } catch (error) {
    for (const slot of slots) slot.stop();
    throw error;
  }
  const quarantine = new Quarantine(settings);
  return {
    execute: (request, ...told) =>
      (settings.culprits.has(request.owner) ? quarantine : chooseSlot(slotsOf(slots, request.owner), request.source).child).execute(
        request,
        ...told,
      ),
    inspect: (request) => chooseSlot(slots, request.bundle.hash).child.inspect(request),
    alive: () => [...slots.map(({ child }) => child), ...(quarantine.child === undefined ? [] : [quarantine.child])],
    stop: () => {
      quarantine.stop();
      for (const slot of slots) slot.stop();
    },
  };
}

/** A place of the pool: its child is replaced when lost, its owners stay. */
class Slot {
  readonly index: number;
  child: SandboxChild;
  /** Replaced children that still end what they had begun. */
  readonly retired = new Set<SandboxChild>();
  #stopped = false;
  #failedStarts = 0;
  #restart: NodeJS.Timeout | undefined;
  readonly #settings: ChildrenSettings;

  constructor(index: number, settings: ChildrenSettings) {
    this.index = index;
    this.#settings = settings;
    this.child = this.#start();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#restart);
    for (const child of [this.child, ...this.retired]) child.kill();
  }

  #start(): SandboxChild {
    const child: SandboxChild = new SandboxChild({
      ...this.#settings.child,
      onLost: (reason) => this.#replace(child, reason),
    });
    return child;
  }

  #replace(lost: SandboxChild, reason: string): void {
    if (this.#stopped) return;
    this.#settings.logger?.warn({ op: "sandbox.child_lost", pid: lost.pid, reason }, "a sandbox child is replaced");
    for (const child of this.retired) if (child.inFlight === 0) this.retired.delete(child);
    this.retired.add(lost);
    if (lost.wasReady) this.#failedStarts = 0;
    else this.#failedStarts += 1;
    if (this.#failedStarts === 0) this.child = this.#start();
    else this.#restart = setTimeout(() => (this.child = this.#start()), Math.min(30_000, 100 * 2 ** this.#failedStarts));
  }
}

/** An owner's sources share half of the children, two at least: a hostile owner disturbs no more, and an only one can use more than one core. */
function slotsOf(slots: readonly Slot[], owner: string): readonly Slot[] {
  return ranked(slots, owner).slice(0, Math.max(2, Math.ceil(slots.length / 2)));
}

/** A source stays on one child, where its isolate is warm. */
function chooseSlot(slots: readonly Slot[], key: string): Slot {
  const [chosen] = ranked(slots, key);
  if (chosen === undefined) throw new RangeError("a sandbox needs at least one child");
  return chosen;
}

/** Rendezvous hashing: the order of the children for a key. */
function ranked(slots: readonly Slot[], key: string): readonly Slot[] {
  if (slots.length === 1) return slots;
  return slots
    .map((slot) => ({ slot, weight: hash(`${slot.index}:${key}`) }))
    .sort((a, b) => b.weight - a.weight)
    .map(({ slot }) => slot);
}

/** FNV-1a with a final mix: near keys must fall far apart. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
