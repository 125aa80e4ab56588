import type { ClientRequest, IncomingMessage } from "node:http";
import type { OperationContext } from "./context.ts";
import { coded } from "./fetch/request.ts";
import { charge } from "./sync-meter.ts";

const maxInterim = 20;
/** What the host's thread needs for an interim response, and for a piece of a body however small. */
const interimMs = 0.03;
const pieceMs = 0.004;
/** Smaller ones than this are not worth what they cost. */
const pieceBytes = 128;

/** Ends a request whose server announces its response again and again (103) and never gives it: nothing else holds such a flood back. */
export function limitInterim(context: OperationContext, outgoing: ClientRequest): void {
  let count = 0;
  outgoing.on("information", () => {
    count += 1;
    charge(context, interimMs);
    if (count > maxInterim) outgoing.destroy(coded(new Error(`more than ${maxInterim} interim responses came`), "response_too_large"));
  });
}

/**
 * A body in pieces of one byte occupies the thread that all isolates share for a thousand times as long as one in large ones. What they
 * cost is charged to the owner's share; one who has used it up has the response broken off.
 */
export function chargePieces(context: OperationContext, response: IncomingMessage): void {
  const push = response.push.bind(response);
  // There is no event of a piece: `data` would begin to read.
  response.push = (piece: unknown, encoding?: BufferEncoding): boolean => {
    const isSmall = piece instanceof Uint8Array && piece.byteLength < pieceBytes;
    if (isSmall && !charge(context, pieceMs) && !response.destroyed)
      response.destroy(coded(new Error("the response body comes in too many small pieces"), "response_too_large"));
    return push(piece, encoding);
  };
}
