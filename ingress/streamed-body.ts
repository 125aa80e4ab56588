import type { BodyAnswer } from "../domain/invocation/invocation.ts";
import { maxPieceBytes } from "../domain/run-products.ts";

/** A piece of a body, and its answer: whether it was taken. */
export interface ArrivedPiece {
  readonly bytes: Buffer;
  readonly isLast: boolean;
  readonly reply: (isTaken: boolean) => void;
}

/**
 * The body of a response, of which the runner sends one piece after the other: the next one when the one before was taken. Pieces that do not
 * continue it cut it. Those of another stream, such as that of another attempt of the run, are refused.
 */
export class StreamedBody {
  readonly #stream: string;
  #next = 0;
  #isCut = false;
  #arrived: ArrivedPiece | undefined;
  #wake: (() => void) | undefined;

  constructor(stream: string) {
    this.#stream = stream;
  }

  receive({ stream, index, base64, end }: BodyAnswer, reply: ArrivedPiece["reply"]): void {
    // Of another response of the run, which has no reader.
    if (stream !== this.#stream) return reply(false);
    const bytes = Buffer.from(base64, "base64");
    const continues = !this.#isCut && this.#arrived === undefined && index === this.#next && bytes.length <= maxPieceBytes;
    if (!continues || end === "cut") {
      reply(false);
      return this.cut();
    }
    this.#next += 1;
    this.#arrived = { bytes, isLast: end === "whole", reply };
    this.#wake?.();
  }

  /** No piece is taken any more. */
  cut(): void {
    this.#isCut = true;
    this.#arrived?.reply(false);
    this.#arrived = undefined;
    this.#wake?.();
  }

  /** The next piece, whose `reply` asks for the one after it. Undefined: the body is cut. */
  async next(): Promise<ArrivedPiece | undefined> {
    if (this.#arrived === undefined && !this.#isCut) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const piece = this.#arrived;
    this.#arrived = undefined;
    return piece;
  }
}
