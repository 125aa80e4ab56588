import { randomBytes } from "node:crypto";
import type { Msg } from "@nats-io/transport-node";
import { parseAnswer } from "../../../domain/invocation/answer.ts";
import type { Answer, BodyAnswer, WholeAnswer } from "../../../domain/invocation/invocation.ts";
import { answerFilter, answerSubject } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";

/** Sends an answer, best effort: the commit is stored separately, and the caller has a deadline. Never throws. */
export function sendAnswer(connection: Connection, subject: string, answer: Answer): void {
  try {
    connection.nats.publish(subject, JSON.stringify(answer));
  } catch {
    // The connection is closed, or the answer exceeds NATS's max_payload: the caller's deadline ends its wait.
  }
}

const [taken, notTaken] = ["taken", "not taken"];

/** Sends a piece of a streamed response, and waits until its caller has room for the next one. @returns false when the caller reads no more */
export async function sendPiece(connection: Connection, subject: string, piece: BodyAnswer, timeoutMs: number): Promise<boolean> {
  try {
    const reply = await connection.nats.request(subject, JSON.stringify(piece), { timeout: Math.ceil(timeoutMs) });
    return reply.string() === taken;
  } catch {
    return false; // The caller takes too long, the process that listened has ended, or NATS is away.
  }
}

function respond(message: Msg, isTaken: boolean): void {
  try {
    message.respond(isTaken ? taken : notTaken);
  } catch {
    // The connection is closed: the time of the sender ends its wait.
  }
}

/** Who waits for answers of a run. */
interface Listener {
  readonly onAnswer: (answer: WholeAnswer) => void;
  readonly onPiece: OnPiece | undefined;
}

/** Called with each piece of a body. @param reply whether it was taken, once there is room for the next one */
type OnPiece = (piece: BodyAnswer, reply: (isTaken: boolean) => void) => void;

/**
 * Receives the answers of all runs that this process has requested, over one subscription. Runners execute user code, so a message that is
 * no answer is ignored: the caller's deadline ends its wait.
 */
export class RunAnswers {
  readonly #connection: Connection;
  readonly #token = randomBytes(12).toString("hex");
  readonly #listeners = new Map<string, Set<Listener>>();
  #unsubscribe: (() => void) | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  start(): void {
    const subscription = this.#connection.nats.subscribe(answerFilter(this.#token), {
      callback: (error, message) => {
        if (error !== null) return;
        const listeners = this.#listeners.get(message.subject);
        // Only the sender of a piece waits for a reply.
        const reply = (isTaken: boolean): void => respond(message, isTaken);
        if (listeners === undefined) return reply(false);
        const answer = parseAnswer(message.string());
        if (answer === undefined) return reply(false);
        for (const { onAnswer, onPiece } of listeners) {
          if (answer.kind !== "body") onAnswer(answer);
          else if (onPiece === undefined) reply(false);
          else onPiece(answer, reply);
        }
      },
    });
    this.#unsubscribe = () => subscription.unsubscribe();
  }

  stop(): void {
    this.#unsubscribe?.();
  }

  /**
   * Calls back with each answer of the run until ended. Call it before you publish the invocation, whose `answerTo` is `subject`.
   * @param onPiece absent: no piece of a body is taken
   */
  listen(run: string, onAnswer: Listener["onAnswer"], onPiece?: OnPiece): { readonly subject: string; end(): void } {
    const subject = answerSubject(this.#token, run);
    const listeners = this.#listeners.get(subject) ?? new Set();
    const listener = { onAnswer, onPiece };
    listeners.add(listener);
    this.#listeners.set(subject, listeners);
    return {
      subject,
      end: () => {
        listeners.delete(listener);
        if (listeners.size === 0) this.#listeners.delete(subject);
      },
    };
  }

  /**
   * The first answer of these kinds, or undefined if the signal aborts first. Call it before you publish the invocation, whose `answerTo` is
   * `subject`.
   */
  wait<K extends WholeAnswer["kind"]>(
    run: string,
    kinds: K | readonly K[],
    signal: AbortSignal,
  ): { readonly subject: string; readonly answer: Promise<Extract<WholeAnswer, { kind: K }> | undefined> } {
    const { promise, resolve } = Promise.withResolvers<Extract<WholeAnswer, { kind: K }> | undefined>();
    const hasKind = (answer: WholeAnswer): answer is Extract<WholeAnswer, { kind: K }> =>
      (typeof kinds === "string" ? [kinds] : kinds).some((kind) => kind === answer.kind);
    const { subject, end } = this.listen(run, (answer) => {
      if (hasKind(answer)) resolve(answer);
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
