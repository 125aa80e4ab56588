import type { ClientRequest, IncomingMessage } from "node:http";
import type { OperationContext } from "./context.ts";
import { coded } from "./fetch/request.ts";
import { charge } from "./sync-meter.ts";

const maxInterim = 20;
/** Time that the host's thread needs for an interim response, and for a piece of a body of any size. */
const interimMs = 0.03;
const pieceMs = 0.004;
/** Smaller pieces are charged to the owner. */
const minFreePieceBytes = 128;

/** Ends a request whose server sends only interim responses (103): no other limit applies to such a flood. */
export function limitInterim(context: OperationContext, outgoing: ClientRequest): void {
  let count = 0;
  outgoing.on("information", () => {
    count += 1;
    charge(context, interimMs);
    if (count > maxInterim) outgoing.destroy(coded(new Error(`more than ${maxInterim} interim responses came`), "response_too_large"));
  });
}

/**
 * Charges small pieces of a body to the owner's share of the host's thread. A body in pieces of one byte occupies the thread a thousand
 * times as long as one in large pieces. When the share is used up, the response is aborted.
 */
export function chargePieces(context: OperationContext, response: IncomingMessage): void {
  const push = response.push.bind(response);
  // There is no event for a piece: a `data` listener would start reading.
  response.push = (piece: unknown, encoding?: BufferEncoding): boolean => {
    const isSmall = piece instanceof Uint8Array && piece.byteLength < minFreePieceBytes;
    if (isSmall && !charge(context, pieceMs) && !response.destroyed)
      response.destroy(coded(new Error("the response body comes in too many small pieces"), "response_too_large"));
    return push(piece, encoding);
  };
}
