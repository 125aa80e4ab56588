import type { ServerResponse } from "node:http";
import type { HttpResponse } from "../domain/run-products.ts";
import type { BudgetEntry } from "../domain/limits/budget.ts";
import { Pace } from "./pace.ts";
import type { IngressConfig } from "./ports.ts";
import { replyHead } from "./reply.ts";
import type { StreamedBody } from "./streamed-body.ts";
import { breakOff, written } from "./written.ts";

/**
 * Writes a response whose body comes in pieces, as fast as the caller reads: at most two pieces are in memory. If the run does not send all of
 * it, the connection ends without the end of the body, which the caller sees (RFC 9112, section 8).
 *
 * @param held unread bytes of the caller's network
 * @throws PublicError, before anything is written, when the response is invalid
 */
export async function replyStream(
  response: ServerResponse,
  given: HttpResponse,
  body: StreamedBody,
  held: BudgetEntry,
  { requestTimeoutMs: graceMs, minTransferRate: bytesPerSecond }: Pick<IngressConfig, "requestTimeoutMs" | "minTransferRate">,
): Promise<void> {
  if (!replyHead(response, given)) return void response.end();
  const onClose = (): void => body.cut();
  response.once("close", onClose);
  const pace = new Pace({ graceMs, bytesPerSecond }, () => breakOff(response));
  try {
    for (;;) {
      // The run may take its time.
      const piece = await pace.pauseFor(body.next());
      if (piece === undefined) return breakOff(response);
      const { bytes, isLast, reply } = piece;
      const isTaken = held.take(bytes.length) && (bytes.length === 0 || (await written(response, bytes)));
      reply(isTaken);
      if (!isTaken) return breakOff(response);
      held.release(bytes.length);
      pace.moved(bytes.length);
      if (isLast) return void response.end();
    }
  } finally {
    pace.end();
    response.off("close", onClose);
  }
}
