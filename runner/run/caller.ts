import type { BodyPiece, HttpResponse, TakePiece } from "../../domain/run-products.ts";
import type { RunPorts } from "./ports.ts";

type Ports = Pick<RunPorts, "answer" | "sendPiece"> & { readonly randomId: () => string };

interface Stream {
  readonly id: string;
  /** Index of the next piece. */
  next: number;
  isOpen: boolean;
  /** A piece is on its way. */
  isBusy: boolean;
}

/**
 * Who waits for the response of an execution. A streamed body belongs to one attempt: if the execution is repeated, its caller cannot be
 * given the rest, and the body is cut.
 */
export class Caller {
  readonly #answerTo: string;
  readonly #ports: Ports;
  #stream: Stream | undefined;

  constructor(answerTo: string, ports: Ports) {
    this.#answerTo = answerTo;
    this.#ports = ports;
  }

  /** For `Sandbox.execute`. */
  readonly onResponse = (response: HttpResponse): TakePiece | undefined => {
    if (this.#stream !== undefined) {
      this.end();
      return undefined;
    }
    if (response.isStreamed !== true) {
      this.#ports.answer(this.#answerTo, { kind: "response", response });
      return undefined;
    }
    const stream = { id: this.#ports.randomId(), next: 0, isOpen: true, isBusy: false };
    this.#stream = stream;
    this.#ports.answer(this.#answerTo, { kind: "response", response, stream: stream.id });
    return (piece) => this.#take(stream, piece);
  };

  /** The execution has ended, and what it has not sent is missing. */
  end(): void {
    if (this.#stream?.isOpen !== true) return;
    this.#stream.isOpen = false;
    const { id, next } = this.#stream;
    this.#ports.answer(this.#answerTo, { kind: "body", stream: id, index: next, base64: "", end: "cut" });
  }

  async #take(stream: Stream, { index, base64, isLast }: BodyPiece): Promise<boolean> {
    if (!stream.isOpen) return false;
    if (stream.isBusy || index !== stream.next) {
      this.end();
      return false;
    }
    stream.isBusy = true;
    stream.next += 1;
    const piece = { kind: "body", stream: stream.id, index, base64, ...(isLast && { end: "whole" as const }) } as const;
    const isTaken = await this.#ports.sendPiece(this.#answerTo, piece); // Never rejects.
    stream.isBusy = false;
    if (!isTaken || isLast) stream.isOpen = false;
    return isTaken;
  }
}
