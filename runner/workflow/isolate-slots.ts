/**
 * Names of the isolates in which the steps of a workflow's runs are executed. A context serves one execution at a time, and runs of a workflow
 * go side by side: each execution takes the lowest free number of its step, so that few contexts stay warm and are used again.
 */
export class IsolateSlots {
  /** By workflow and step: the numbers in use. */
  readonly #taken = new Map<string, Set<number>>();
  /** Name of an isolate → key of the queue whose run uses it. */
  readonly #queues = new Map<string, string>();

  /** @param queue key of the run's queue in the scheduler */
  take(workflow: string, step: string, queue: string): { readonly isolate: string; readonly free: () => void } {
    const name = `${workflow}/${step}`;
    const taken = this.#taken.get(name) ?? new Set();
    this.#taken.set(name, taken);
    let number = 0;
    while (taken.has(number)) number++;
    taken.add(number);
    const isolate = `${name}/${number}`;
    this.#queues.set(isolate, queue);
    const free = (): void => {
      taken.delete(number);
      this.#queues.delete(isolate);
      if (taken.size === 0 && this.#taken.get(name) === taken) this.#taken.delete(name);
    };
    return { isolate, free };
  }

  /** The queue whose run uses this isolate; the name itself if it belongs to no workflow. */
  queueOf(isolate: string): string {
    return this.#queues.get(isolate) ?? isolate;
  }
}
