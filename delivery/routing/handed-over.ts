import { maxProcessedEvents } from "../../domain/event/processed-events.ts";
import { pause } from "../../domain/retry.ts";

/** The rest of what a source remembers is for commits that are still being handed over when the floors are published. */
const maxUnpublished = maxProcessedEvents / 4;
/** Publishing begins early, so that usually nothing waits for it. */
const publishAt = maxUnpublished / 2;
/** Bounds the memory for sources that rarely receive events. */
const maxListeners = 1_000;
const retryMs = 100;

interface HandedOverTo {
  /** Sequence of the last commit of which events were handed over. */
  commit: number;
  count: number;
}

/**
 * Events that were handed over to sources since the floors were last published. After a crash, delivery hands them over again, and
 * a source recognizes only its last `maxProcessedEvents`. So a commit waits while more of its listener's events are unpublished,
 * for example because NATS does not answer.
 */
export class HandedOver {
  readonly #publishFloors: () => Promise<boolean>;
  readonly #signal: AbortSignal;
  #recent = new Map<string, HandedOverTo>();
  /** Those that the running publication covers. */
  #publishing = new Map<string, HandedOverTo>();
  #published: Promise<void> | undefined;

  /** @param publishFloors resolves with false if publishing failed; then it is called again */
  constructor(publishFloors: () => Promise<boolean>, signal: AbortSignal) {
    this.#publishFloors = publishFloors;
    this.#signal = signal;
  }

  /**
   * Resolves when an event of a commit may be handed over to a source. The events of one commit do not wait for one another: the floor
   * rises after all of them. @throws when delivery stops
   */
  async admit(listener: string, commit: number): Promise<void> {
    while (this.#mustWait(listener, commit)) await this.#publish();
    const handed = this.#recent.get(listener) ?? { commit, count: 0 };
    this.#recent.set(listener, handed);
    handed.commit = commit;
    handed.count++;
    if (handed.count >= publishAt || this.#recent.size >= maxListeners) this.#publish().catch(() => undefined); // Stopping.
  }

  #mustWait(listener: string, commit: number): boolean {
    const [recent, publishing] = [this.#recent.get(listener), this.#publishing.get(listener)];
    if ((recent ?? publishing)?.commit === commit) return false;
    return (recent?.count ?? 0) + (publishing?.count ?? 0) >= maxUnpublished;
  }

  #publish(): Promise<void> {
    this.#published ??= this.#publishUntilDone().finally(() => (this.#published = undefined));
    return this.#published;
  }

  async #publishUntilDone(): Promise<void> {
    // The floor rises in this turn of the event loop if the last event of a commit has just been handed over.
    await new Promise((resolve) => setImmediate(resolve));
    this.#publishing = this.#recent;
    this.#recent = new Map();
    while (!(await this.#publishFloors())) {
      await pause(retryMs, this.#signal);
      this.#signal.throwIfAborted();
    }
    this.#publishing = new Map();
  }
}
