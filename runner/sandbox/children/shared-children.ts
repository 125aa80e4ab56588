import { startError } from "./child-outcomes.ts";
import type { SandboxChild } from "./child-process.ts";
import type { Children } from "./children.ts";

/** A fixed number of children that owners share. A lost child is replaced; the owners of its slot stay. */
export class SharedChildren {
  readonly #slots: readonly Slot[];

  private constructor(slots: readonly Slot[]) {
    this.#slots = slots;
  }

  /** Resolves when all children can run. @throws Unavailable if one cannot be started */
  static async start(count: number, children: Children): Promise<SharedChildren> {
    const slots = Array.from({ length: count }, () => new Slot(children));
    await Promise.all(slots.flatMap(({ child }) => child?.ready ?? []));
    return new SharedChildren(slots);
  }

  /**
   * The child of an owner's key, such as a source: always the same one while it lives, since the source's isolate is warm there.
   *
   * An owner's keys are spread over half of the children, at least two, so that a hostile owner disturbs at most that half. They leave
   * it only while none of these can be started.
   *
   * @throws Unavailable if no child can be started
   */
  choose(owner: string, key: string): SandboxChild {
    const count = this.#slots.length;
    const ownerIndexes = rankedIndexes(count, owner).slice(0, Math.max(2, Math.ceil(count / 2)));
    const ranked = rankedIndexes(count, key);
    const find = (isMatch: (slot: Slot, index: number) => boolean): SandboxChild | undefined => {
      const index = ranked.find((each) => this.#slots[each] !== undefined && isMatch(this.#slots[each], each));
      return index === undefined ? undefined : this.#slots[index]?.child;
    };
    const child =
      find((slot, index) => ownerIndexes.includes(index) && slot.isStartable) ??
      find((slot) => slot.isStartable) ??
      find((slot) => slot.child !== undefined);
    if (child === undefined) throw startError("the runner is trying again");
    return child;
  }
}

class Slot {
  /** Undefined while the slot waits to try again after a failed start. */
  child: SandboxChild | undefined;
  /** False from a failed start until a child is ready again. */
  isStartable = true;
  readonly #children: Children;

  constructor(children: Children) {
    this.#children = children;
    this.#start();
  }

  #start(): void {
    const child = this.#children.start({ onLost: (lost) => this.#replace(lost) });
    this.child = child;
    child.ready.then(
      () => (this.isStartable = true),
      () => undefined, // #replace has noted it.
    );
  }

  #replace(lost: SandboxChild): void {
    if (lost.wasReady) return this.#start();
    this.isStartable = false;
    this.child = undefined;
    this.#children.whenStartable(() => this.#start());
  }
}

/** The indexes below `count` in rendezvous order for a key: a key keeps its order whatever happens to single slots. */
function rankedIndexes(count: number, key: string): readonly number[] {
  if (count === 1) return [0];
  return Array.from({ length: count }, (_, index) => ({ index, weight: hash(`${index}:${key}`) }))
    .sort((a, b) => b.weight - a.weight)
    .map(({ index }) => index);
}

/** FNV-1a with a final mix, so that similar keys fall far apart. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
