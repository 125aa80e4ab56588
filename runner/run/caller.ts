import { type BodyPiece, type HttpResponse, maxStreamedBytes, type TakePiece } from "../../domain/run-products.ts";
import type { RunnerPorts } from "../ports.ts";

type Ports = Pick<RunnerPorts, "answer" | "sendPiece" | "randomId" | "clock">;

interface Stream {
  readonly id: string;
  /** Index of the next piece. */
  next: number;
  bytes: number;
  /** How long the execution may yet wait for its caller, in all. */
  leftMs: number;
  isOpen: boolean;
  /** A piece is on its way. */
  isBusy: boolean;
}

/**
 * The caller that waits for the response of an execution. A streamed body belongs to one attempt: if the execution is repeated, its caller cannot be
 * given the rest, and the body is cut. It is also cut when the caller is so slow that the execution would not end in time.
 */
export class Caller {
  readonly #answerTo: string;
  readonly #timeoutMs: number;
  readonly #ports: Ports;
  #stream: Stream | undefined;

  /** @param timeoutMs of the execution, of which its caller may take half */
  constructor(answerTo: string, timeoutMs: number, ports: Ports) {
    this.#answerTo = answerTo;
    this.#timeoutMs = timeoutMs;
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
    const stream = { id: this.#ports.randomId(), next: 0, bytes: 0, leftMs: this.#timeoutMs / 2, isOpen: true, isBusy: false };
    this.#stream = stream;
    this.#ports.answer(this.#answerTo, { kind: "response", response, stream: stream.id });
    return (piece) => this.#take(stream, piece);
  };

  /** Cuts the body, unless it is whole. */
  end(): void {
    if (this.#stream?.isOpen !== true) return;
    this.#stream.isOpen = false;
    const { id, next } = this.#stream;
    this.#ports.answer(this.#answerTo, { kind: "body", stream: id, index: next, base64: "", end: "cut" });
  }

  async #take(stream: Stream, { index, base64, isLast }: BodyPiece): Promise<boolean> {
    if (!stream.isOpen) return false;
    stream.bytes += Buffer.byteLength(base64, "base64");
    if (stream.isBusy || index !== stream.next || stream.bytes > maxStreamedBytes) {
      this.end();
      return false;
    }
    stream.isBusy = true;
    stream.next += 1;
    const sentAt = this.#ports.clock.now();
    const piece = { kind: "body", stream: stream.id, index, base64, ...(isLast && { end: "whole" as const }) } as const;
    const isTaken = await this.#ports.sendPiece(this.#answerTo, piece, Math.max(1, stream.leftMs)); // Never rejects.
    stream.leftMs -= this.#ports.clock.now() - sentAt;
    stream.isBusy = false;
    if (isTaken && isLast) stream.isOpen = false;
    // Only the reply may be lost: then the caller would wait for the next piece.
    if (!isTaken) this.end();
    return isTaken;
  }
}
