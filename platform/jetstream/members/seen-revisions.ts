import type { Msg } from "@nats-io/transport-node";
import { buckets } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { liveReplicas } from "./group.ts";

/** How long a writer waits for a reader that does not answer. Without a reader, NATS reports that at once. */
const timeoutMs = 5_000;
/** Replicas may start and stop in the meantime, so they are counted again. */
const recountMs = 500;
const subjectOf = (bucket: string): string => `seen.${bucket}`;

/**
 * Lets the writer of a bucket wait until its readers have seen an entry: a subscription whose creation was confirmed receives the next event.
 * A reader reports each revision that it has processed; a writer requests one.
 */
export class SeenRevisions {
  readonly #connection: Connection;
  readonly #waiting: { readonly revision: number; readonly message: Msg }[] = [];
  #seen = 0;
  #end: (() => void) | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  start(bucket: (typeof buckets)[keyof typeof buckets]): void {
    const subscription = this.#connection.nats.subscribe(subjectOf(bucket), {
      callback: (error, message) => {
        if (error === null) this.#reply(message);
      },
    });
    this.#end = () => subscription.unsubscribe();
  }

  stop(): void {
    this.#end?.();
  }

  saw(revision: number): void {
    this.#seen = Math.max(this.#seen, revision);
    for (const request of this.#waiting.splice(0)) this.#answer(request);
  }

  #reply(message: Msg): void {
    if (this.#waiting.length > 1_000) this.#waiting.shift(); // Its writer has timed out.
    this.#answer({ revision: Number(message.string()), message });
  }

  #answer(request: { readonly revision: number; readonly message: Msg }): void {
    if (request.revision <= this.#seen) request.message.respond();
    else this.#waiting.push(request);
  }
}

/**
 * Resolves when every live replica of delivery has seen the revision, or when none answers: a replica that starts reads all entries. A
 * replica that stands still is awaited until the others consider it dead.
 */
export async function waitUntilSeen(connection: Connection, bucket: string, revision: number): Promise<void> {
  const { nats } = connection;
  const answers = new Answers();
  const inbox = connection.newInbox();
  const subscription = nats.subscribe(inbox, {
    callback: (error, message) => answers.add(error === null && message.headers?.code !== 503),
  });
  nats.publish(subjectOf(bucket), String(revision), { reply: inbox });
  const giveUp = setTimeout(() => answers.add(false), timeoutMs);
  try {
    while (!answers.isComplete) {
      await answers.next(recountMs);
      if (answers.count >= Math.max(1, await replicaCount(connection))) return;
    }
  } finally {
    clearTimeout(giveUp);
    subscription.unsubscribe();
  }
}

/** 1 if it is unknown. */
const replicaCount = (connection: Connection): Promise<number> =>
  liveReplicas(connection).then(
    (replicas) => replicas.length,
    () => 1,
  );

/** Collects answers until no more are expected. */
class Answers {
  count = 0;
  isComplete = false;
  #onNext: (() => void) | undefined;

  add(isAnswer: boolean): void {
    if (isAnswer) this.count++;
    else this.isComplete = true;
    this.#onNext?.();
  }

  /** Resolves with the next answer, or after this time. */
  next(ms: number): Promise<void> {
    if (this.isComplete) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#onNext = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
