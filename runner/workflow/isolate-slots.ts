/**
 * Maximum executions of a step that compute at the same time in one runner. More would not be faster, and each needs a warm context of its own.
 * Executions that wait for I/O do not count.
 */
const maxComputing = 12;

interface Slot {
  readonly isolate: string;
  readonly free: () => void;
}

interface TakenSlot {
  readonly step: StepSlots;
  readonly number: number;
  /** Key of the queue whose run uses it. */
  readonly queue: string;
}

interface StepSlots {
  /** Numbers in use. */
  readonly taken: Set<number>;
  /** Numbers whose execution waits for I/O. */
  readonly paused: Set<number>;
  readonly waiting: (() => void)[];
}

/**
 * The isolates in which the steps of a workflow's runs are executed. A context serves one execution at a time, and runs of a workflow go side by
 * side: each execution takes the lowest free number of its step, so that few contexts stay warm and are used again.
 *
 *     take ── fewer than `maxComputing` compute ──▶ computing ── paused: another may start ──▶ waits for I/O ──▶ free
 *      │                                              ▲   └────────────────────────────────────────────────────▶ free
 *      └── otherwise: wait, in order ─────────────────┘
 */
export class IsolateSlots {
  /** By workflow and step. */
  readonly #steps = new Map<string, StepSlots>();
  /** By name of the isolate. */
  readonly #taken = new Map<string, TakenSlot>();

  /** @param queue key of the run's queue in the scheduler */
  async take(workflow: string, step: string, queue: string): Promise<Slot> {
    const name = `${workflow}/${step}`;
    const slots = this.#steps.get(name) ?? { taken: new Set(), paused: new Set(), waiting: [] };
    this.#steps.set(name, slots);
    if (isFull(slots) || slots.waiting.length > 0) await new Promise<void>((resolve) => slots.waiting.push(resolve));
    return this.#occupy(name, slots, queue);
  }

  /** The execution in this isolate waits for I/O. */
  pause(isolate: string): void {
    const slot = this.#taken.get(isolate);
    if (slot === undefined) return;
    slot.step.paused.add(slot.number);
    startNext(slot.step);
  }

  /** The queue whose run uses this isolate; the name itself if it belongs to no workflow. */
  queueOf(isolate: string): string {
    return this.#taken.get(isolate)?.queue ?? isolate;
  }

  #occupy(name: string, step: StepSlots, queue: string): Slot {
    const { taken, paused, waiting } = step;
    let number = 0;
    while (taken.has(number)) number++;
    taken.add(number);
    const isolate = `${name}/${number}`;
    this.#taken.set(isolate, { step, number, queue });
    const free = (): void => {
      taken.delete(number);
      paused.delete(number);
      this.#taken.delete(isolate);
      if (taken.size === 0 && waiting.length === 0) this.#steps.delete(name);
      else startNext(step);
    };
    return { isolate, free };
  }
}

const isFull = ({ taken, paused }: StepSlots): boolean => taken.size - paused.size >= maxComputing;

function startNext(slots: StepSlots): void {
  if (!isFull(slots)) slots.waiting.shift()?.();
}
