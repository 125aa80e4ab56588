import type { Msg } from "@nats-io/transport-node";
import { buckets } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { liveReplicas } from "../members/group.ts";

/** How long a writer waits for a reader that is there and does not answer: without one it is told at once. */
const patienceMs = 5_000;
/** Replicas come and go while their answers are awaited. */
const lookAgainMs = 500;
const subjectOf = (bucket: string): string => `seen.${bucket}`;

/**
 * Lets the writer of a bucket wait until its reader knows an entry: what is answered as subscribed hears the very next event.
 * A reader tells each revision it has taken in; a writer asks for one.
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
        if (error === null) this.#ask(message);
      },
    });
    this.#end = () => subscription.unsubscribe();
  }

  stop(): void {
    this.#end?.();
  }

  saw(revision: number): void {
    this.#seen = Math.max(this.#seen, revision);
    for (const asked of this.#waiting.splice(0)) this.#answer(asked);
  }

  #ask(message: Msg): void {
    if (this.#waiting.length > 1_000) this.#waiting.shift(); // Its writer has lost patience.
    this.#answer({ revision: Number(message.string()), message });
  }

  #answer(asked: { readonly revision: number; readonly message: Msg }): void {
    if (asked.revision <= this.#seen) asked.message.respond();
    else this.#waiting.push(asked);
  }
}

/**
 * Resolves when every live replica of delivery has seen the revision, or when none answers: then it will see it when it starts. One that
 * stands still is waited for until the others take it for dead.
 */
export async function waitUntilSeen(connection: Connection, bucket: string, revision: number): Promise<void> {
  const { nats } = connection;
  const answers = new Answers();
  const inbox = connection.newInbox();
  const subscription = nats.subscribe(inbox, {
    callback: (error, message) => answers.add(error === null && message.headers?.code !== 503),
  });
  nats.publish(subjectOf(bucket), String(revision), { reply: inbox });
  const giveUp = setTimeout(() => answers.add(false), patienceMs);
  try {
    while (!answers.isOver) {
      await answers.next(lookAgainMs);
      if (answers.count >= Math.max(1, await replicaCount(connection))) return;
    }
  } finally {
    clearTimeout(giveUp);
    subscription.unsubscribe();
  }
}

/** 1 when it cannot be told. */
const replicaCount = (connection: Connection): Promise<number> =>
  liveReplicas(connection).then(
    (replicas) => replicas.length,
    () => 1,
  );

/** Answers as they come, until there will be none. */
class Answers {
  count = 0;
  isOver = false;
  #onNext: (() => void) | undefined;

  add(isAnswer: boolean): void {
    if (isAnswer) this.count++;
    else this.isOver = true;
    this.#onNext?.();
  }

  /** Resolves at the next one, or after that time. */
  next(ms: number): Promise<void> {
    if (this.isOver) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#onNext = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
