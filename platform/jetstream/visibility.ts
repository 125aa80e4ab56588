import type { Msg } from "@nats-io/transport-node";
import { buckets } from "../../domain/subjects.ts";
import type { Connection } from "./connection.ts";

/** How long a writer waits for a reader that is there and does not answer: without one it is told at once. */
const patienceMs = 5_000;
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

/** Resolves when the bucket's reader has seen the revision, or when none answers: then it will see it when it starts. */
export async function untilSeen(connection: Connection, bucket: string, revision: number): Promise<void> {
  await connection.nats.request(subjectOf(bucket), String(revision), { timeout: patienceMs }).catch(() => undefined);
}
