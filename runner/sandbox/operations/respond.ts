import { maxPieceBytes } from "../../../domain/run-products.ts";
import { bytesArgument } from "./arguments.ts";
import type { AsyncOperation, OperationContext } from "./context.ts";
import { withSlot } from "./slots.ts";
import { charge, outOfDebt } from "./sync-meter.ts";

/** Pieces of one run that are in flight or wait: each holds its bytes. The guest's own code makes one at a time. */
const maxPieces = 4;
/** Time of the host's thread that a call takes: its bytes are copied, and are text between the processes. */
const callMs = 0.3;

interface Body {
  /** Of the next piece. */
  index: number;
  inFlight: number;
}

const bodies = new WeakMap<OperationContext, Body>();

export const respondAsync: Record<string, AsyncOperation> = {
  /** Sends bytes of the body of a streamed response. False when the caller reads no more. */
  respond_piece: async (context, [given, isLast]) => {
    const bytes = bytesArgument(given, "bytes", maxPieceBytes);
    const body = bodies.get(context) ?? { index: 0, inFlight: 0 };
    bodies.set(context, body);
    if (body.inFlight >= maxPieces)
      throw Object.assign(new Error(`more than ${maxPieces} pieces of a response are being sent`), { code: "limit_exceeded" });
    body.inFlight += 1;
    try {
      return await withSlot(context, "respond", 1, async () => {
        await outOfDebt(context, context.signal);
        charge(context, callMs);
        const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
        const index = body.index++;
        return await context.network.sendPiece({ index, base64, isLast: isLast === true }, context.signal);
      });
    } finally {
      body.inFlight -= 1;
    }
  },
};
