import { randomBytes } from "node:crypto";
import type { Answer } from "../../../domain/invocation/invocation.ts";
import { answerFilter, answerSubject } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";

/** Best effort, beside the commit: whoever waits also has a deadline. Never throws. */
export function sendAnswer(connection: Connection, subject: string, answer: Answer): void {
  try {
    connection.nats.publish(subject, JSON.stringify(answer));
  } catch {
    // Closed, or larger than the server takes: the asker's deadline ends its wait.
  }
}

/** Waits for answers of runs, all over one subscription. */
export class Asker {
  readonly #connection: Connection;
  readonly #token = randomBytes(12).toString("hex");
  readonly #waiting = new Map<string, Set<(answer: Answer) => void>>();
  #end: (() => void) | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  start(): void {
    const subscription = this.#connection.nats.subscribe(answerFilter(this.#token), {
      callback: (error, message) => {
        if (error !== null) return;
        const listeners = this.#waiting.get(message.subject);
        if (listeners === undefined) return;
        const answer = message.json<Answer>(); // Only runners may publish on these subjects, from typed values.
        for (const listener of listeners) listener(answer);
      },
    });
    this.#end = () => subscription.unsubscribe();
  }

  stop(): void {
    this.#end?.();
  }

  /** Calls back with each answer for the run until ended. Listen before asking. `subject` is the invocation's `answerTo`. */
  listen(run: string, onAnswer: (answer: Answer) => void): { readonly subject: string; end(): void } {
    const subject = answerSubject(this.#token, run);
    const listeners = this.#waiting.get(subject) ?? new Set();
    listeners.add(onAnswer);
    this.#waiting.set(subject, listeners);
    return {
      subject,
      end: () => {
        listeners.delete(onAnswer);
        if (listeners.size === 0) this.#waiting.delete(subject);
      },
    };
  }

  /** The first answer of that kind, or undefined when the signal aborts first. Begin to wait before asking. */
  wait<K extends Answer["kind"]>(
    run: string,
    kind: K,
    signal: AbortSignal,
  ): { readonly subject: string; readonly answer: Promise<Extract<Answer, { kind: K }> | undefined> } {
    const { promise, resolve } = Promise.withResolvers<Extract<Answer, { kind: K }> | undefined>();
    const isWanted = (answer: Answer): answer is Extract<Answer, { kind: K }> => answer.kind === kind;
    const { subject, end } = this.listen(run, (answer) => {
      if (isWanted(answer)) resolve(answer);
    });
    const onAbort = (): void => resolve(undefined);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    const answer = promise.finally(() => {
      end();
      signal.removeEventListener("abort", onAbort);
    });
    return { subject, answer };
  }
}
