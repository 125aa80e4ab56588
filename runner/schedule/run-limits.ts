import { defaultWorkflowSettings, type WorkflowSettings } from "../../domain/workflow/deployment.ts";

/** The queue of one run of a workflow. */
export interface LimitedQueue {
  readonly key: string;
  /** Id of the workflow. */
  readonly source: string;
  /** It continues a run that has started before: a throttle does not count it again. */
  readonly isResumed: boolean;
}

interface Waiting {
  readonly queue: LimitedQueue;
  /** Its owner is loaded, so that it may run. */
  isReady: boolean;
}

interface Limited {
  settings: WorkflowSettings;
  /** Keys of admitted queues. */
  readonly admitted: Set<string>;
  /** By key, in order of arrival. */
  readonly waiting: Map<string, Waiting>;
  /** Times of the last starts, oldest first; ms of a monotonic clock. */
  starts: number[];
  timer: NodeJS.Timeout | undefined;
}

/**
 * Bounds the runs of each workflow by its settings: how many go side by side, and how many start within a time. A workflow's runs are in one
 * partition, so one runner sees all of them.
 *
 *     arrived ──▶ waiting ── owner loaded, within the limits ──▶ admitted ── its queue is empty ──▶ left
 */
export class RunLimits {
  readonly #settingsOf: (workflow: string) => WorkflowSettings | undefined;
  readonly #now: () => number;
  readonly #workflows = new Map<string, Limited>();
  #onAdmit: (key: string) => void = () => undefined;

  /** @param settingsOf undefined: not known now, so that the last known settings count */
  constructor(settingsOf: (workflow: string) => WorkflowSettings | undefined, now: () => number) {
    this.#settingsOf = settingsOf;
    this.#now = now;
  }

  /** @param onAdmit called for each queue that had to wait, once it may run */
  start(onAdmit: (key: string) => void): void {
    this.#onAdmit = onAdmit;
  }

  /** Call this when the queue gets its first invocation: its place in the order of an ordered workflow. */
  arrive(queue: LimitedQueue): void {
    const limited = this.#workflows.get(queue.source) ?? this.#open(queue.source);
    limited.waiting.set(queue.key, { queue, isReady: false });
  }

  /** Whether the queue, whose owner is loaded, may run now. If not, `onAdmit` is called once it may. */
  admits({ key, source }: LimitedQueue): boolean {
    const limited = this.#workflows.get(source);
    if (limited === undefined) return true;
    limited.settings = this.#settingsOf(source) ?? limited.settings;
    const waiting = limited.waiting.get(key);
    if (waiting !== undefined) waiting.isReady = true;
    this.#admitNext(limited, key);
    return limited.admitted.has(key);
  }

  /** Maximum runs of the workflow that wait; undefined: it sets none. */
  maxWaiting(workflow: string): number | undefined {
    const settings = this.#settingsOf(workflow) ?? this.#workflows.get(workflow)?.settings;
    return settings?.queueSize ?? undefined;
  }

  /** The queue is empty: another one may run. */
  leave({ key, source }: Pick<LimitedQueue, "key" | "source">): void {
    const limited = this.#workflows.get(source);
    if (limited === undefined) return;
    limited.admitted.delete(key);
    limited.waiting.delete(key);
    this.#admitNext(limited);
    const isIdle = limited.admitted.size === 0 && limited.waiting.size === 0;
    // The starts of a throttled workflow count for later runs.
    if (isIdle && limited.settings.throttle === null) this.#workflows.delete(source);
  }

  #open(workflow: string): Limited {
    const settings = defaultWorkflowSettings;
    const limited: Limited = { settings, admitted: new Set(), waiting: new Map(), starts: [], timer: undefined };
    this.#workflows.set(workflow, limited);
    return limited;
  }

  /** @param asking the queue whose caller sees the result itself */
  #admitNext(limited: Limited, asking?: string): void {
    const { admitted, waiting, settings } = limited;
    for (const [key, { queue, isReady }] of waiting) {
      if (admitted.size >= maxAtOnce(settings)) return;
      if (!isReady) {
        if (settings.ordered) return;
        continue;
      }
      const waitMs = queue.isResumed ? 0 : this.#throttledMs(limited);
      if (waitMs > 0) return this.#admitLater(limited, waitMs);
      if (!queue.isResumed && settings.throttle !== null) limited.starts.push(this.#now());
      waiting.delete(key);
      admitted.add(key);
      if (key !== asking) this.#onAdmit(key);
    }
  }

  #admitLater(limited: Limited, waitMs: number): void {
    limited.timer ??= setTimeout(() => {
      limited.timer = undefined;
      this.#admitNext(limited);
    }, waitMs);
  }

  /** Time until another run may start, ms. */
  #throttledMs(limited: Limited): number {
    const { throttle } = limited.settings;
    if (throttle === null) return 0;
    const since = this.#now() - throttle.intervalSeconds * 1_000;
    limited.starts = limited.starts.filter((start) => start > since);
    const [oldest] = limited.starts.slice(-throttle.runs);
    return oldest === undefined || limited.starts.length < throttle.runs ? 0 : Math.max(1, oldest - since);
  }
}

const maxAtOnce = ({ concurrency, ordered }: WorkflowSettings): number => (ordered ? 1 : (concurrency ?? Number.POSITIVE_INFINITY));
