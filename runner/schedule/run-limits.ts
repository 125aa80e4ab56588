import { defaultWorkflowSettings, type WorkflowSettings } from "../../domain/workflow/deployment.ts";

/** What is known of a workflow. */
export interface KnownWorkflow {
  readonly settings: WorkflowSettings;
  readonly active: boolean;
}

/** Access to the deployments of workflows. */
export interface WorkflowLookup {
  /** Undefined: not known now, so that the last known state counts. */
  readonly find: (workflow: string) => KnownWorkflow | undefined;
  /** Reads it again. Undefined: it was deleted, or has moved. */
  readonly load: (workflow: string) => Promise<KnownWorkflow | undefined>;
}

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
  known: KnownWorkflow;
  /** Keys of admitted queues. */
  readonly admitted: Set<string>;
  /** By key, in order of arrival. */
  readonly waiting: Map<string, Waiting>;
  /** Times of the last starts, oldest first; ms of a monotonic clock. */
  starts: number[];
  /** The next one may start by its throttle. */
  timer: NodeJS.Timeout | undefined;
  /** Looks whether it is active again. */
  activation: NodeJS.Timeout | undefined;
}

const activationPollMs = 5_000;
/** Its invocations are handled, and found to have nothing to do. */
const deleted: KnownWorkflow = { settings: defaultWorkflowSettings, active: true };

/**
 * Bounds the runs of each workflow by its settings: how many go side by side, and how many start within a time. A workflow's runs are in one
 * partition, so one runner sees all of them. While a workflow is not active, what it has accepted waits; suspended runs go on.
 *
 *     arrived ──▶ waiting ── owner loaded, within the limits ──▶ admitted ── its queue is empty ──▶ left
 */
export class RunLimits {
  readonly #lookup: WorkflowLookup;
  readonly #now: () => number;
  readonly #workflows = new Map<string, Limited>();
  #onAdmit: (key: string) => void = () => undefined;

  constructor(lookup: WorkflowLookup, now: () => number) {
    this.#lookup = lookup;
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
    limited.known = this.#lookup.find(source) ?? limited.known;
    const waiting = limited.waiting.get(key);
    if (waiting !== undefined) waiting.isReady = true;
    this.#admitNext(source, limited, key);
    return limited.admitted.has(key);
  }

  /** Maximum runs of the workflow that wait; undefined: it sets none. */
  maxWaiting(workflow: string): number | undefined {
    const known = this.#lookup.find(workflow) ?? this.#workflows.get(workflow)?.known;
    return known?.settings.queueSize ?? undefined;
  }

  /** The queue is empty: another one may run. */
  leave({ key, source }: Pick<LimitedQueue, "key" | "source">): void {
    const limited = this.#workflows.get(source);
    if (limited === undefined) return;
    limited.admitted.delete(key);
    limited.waiting.delete(key);
    this.#admitNext(source, limited);
    const isIdle = limited.admitted.size === 0 && limited.waiting.size === 0;
    if (isIdle) clearTimeout(limited.activation);
    // The starts of a throttled workflow count for later runs.
    if (isIdle && limited.known.settings.throttle === null) this.#workflows.delete(source);
  }

  #open(workflow: string): Limited {
    const limited: Limited = {
      known: deleted,
      admitted: new Set(),
      waiting: new Map(),
      starts: [],
      timer: undefined,
      activation: undefined,
    };
    this.#workflows.set(workflow, limited);
    return limited;
  }

  /** @param asking the queue whose caller sees the result itself */
  #admitNext(workflow: string, limited: Limited, asking?: string): void {
    const { admitted, waiting, known } = limited;
    const { settings, active } = known;
    for (const [key, { queue, isReady }] of waiting) {
      if (admitted.size >= maxAtOnce(settings)) return;
      if (!active && !queue.isResumed) {
        this.#lookLater(workflow, limited);
        continue;
      }
      if (!isReady) {
        if (settings.ordered) return;
        continue;
      }
      const waitMs = queue.isResumed ? 0 : this.#throttledMs(limited);
      if (waitMs > 0) return this.#admitLater(workflow, limited, waitMs);
      if (!queue.isResumed && settings.throttle !== null) limited.starts.push(this.#now());
      waiting.delete(key);
      admitted.add(key);
      if (key !== asking) this.#onAdmit(key);
    }
  }

  #admitLater(workflow: string, limited: Limited, waitMs: number): void {
    limited.timer ??= setTimeout(() => {
      limited.timer = undefined;
      this.#admitNext(workflow, limited);
    }, waitMs);
  }

  /** A change of the entry may be missed, so it is read from time to time while runs wait for it. */
  #lookLater(workflow: string, limited: Limited): void {
    limited.activation ??= setTimeout(() => {
      const look = (known: KnownWorkflow): void => {
        limited.activation = undefined;
        limited.known = known;
        this.#admitNext(workflow, limited);
      };
      this.#lookup.load(workflow).then(
        (known) => look(known ?? deleted),
        () => look(limited.known),
      );
    }, activationPollMs).unref();
  }

  /** Time until another run may start, ms. */
  #throttledMs(limited: Limited): number {
    const { throttle } = limited.known.settings;
    if (throttle === null) return 0;
    const since = this.#now() - throttle.intervalSeconds * 1_000;
    limited.starts = limited.starts.filter((start) => start > since);
    const [oldest] = limited.starts.slice(-throttle.runs);
    return oldest === undefined || limited.starts.length < throttle.runs ? 0 : Math.max(1, oldest - since);
  }
}

const maxAtOnce = ({ concurrency, ordered }: WorkflowSettings): number => (ordered ? 1 : (concurrency ?? Number.POSITIVE_INFINITY));
