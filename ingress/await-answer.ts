import type { ServerResponse } from "node:http";
import type { Budget } from "../domain/limits/budget.ts";
import type { WholeAnswer } from "../domain/invocation/invocation.ts";
import type { HttpResponse } from "../domain/run-products.ts";
import type { Endpoint } from "../domain/source/deployment.ts";
import { breakOff } from "./written.ts";
import { StreamedBody } from "./streamed-body.ts";
import { overloaded, PublicError } from "./errors.ts";
import type { IngressConfig, IngressPorts } from "./ports.ts";

/** Address for the runner's replies, as part of the invocation. */
export interface ReplyAddress {
  readonly run: string;
  readonly answerTo: string;
}

interface Waiting {
  readonly config: Pick<IngressConfig, "answerTimeoutMs">;
  readonly ports: Pick<IngressPorts, "answers" | "newRunId">;
  /** Waiting requests, by owner. */
  readonly waiting: Budget;
}

const emptyObject: HttpResponse = { status: 200, headers: { "content-type": "application/json" }, body: "{}" };
/** The caller closed the connection. */
const gone = Symbol("gone");

/** The owner with the most waiting requests loses the oldest; its run continues. */
const madeRoom = "many requests wait for answers, and those of this owner are the most";

export const ownerOf = ({ owner, source }: Endpoint): string => owner ?? source;

/**
 * Stores the invocation and waits for the response of its run, which continues even if the caller leaves. Without a response:
 *
 * | the run | of a source: `respond()` | of a workflow: `$.respond` |
 * |---|---|---|
 * | failed | 500 | 500 |
 * | ended, or was suspended | 504 | 200 with an empty object |
 * | takes too long | 504 | 504 |
 *
 * @param reply writes the response, and its body if that is streamed: until it resolves, the caller counts as one that waits
 * @param store calls back for the address after reading the request. Only it holds the body, which must not be retained during the wait
 */
export async function awaitAnswer(
  response: ServerResponse,
  endpoint: Endpoint,
  { config, ports, waiting }: Waiting,
  store: (replyAddress: () => ReplyAddress) => Promise<void>,
  reply: (given: HttpResponse, body: StreamedBody | undefined) => Promise<void> | void,
): Promise<void> {
  let body: StreamedBody | undefined;
  const { promise, resolve, reject } = Promise.withResolvers<HttpResponse | typeof gone>();
  const permit = waiting.open(ownerOf(endpoint), () => {
    reject(overloaded(madeRoom));
    body?.cut();
    if (response.headersSent) breakOff(response);
    return true;
  });
  // If storing fails first, nothing awaits this promise.
  promise.catch(() => undefined);
  let listening: { readonly subject: string; end(): void } | undefined;
  let isAnswered = false;
  let timer: NodeJS.Timeout | undefined;
  const onClose = (): void => resolve(gone);
  response.once("close", onClose);
  try {
    await store(() => {
      if (!permit.take(1)) throw overloaded("too many requests wait for answers of this endpoint");
      const run = ports.newRunId();
      const onAnswer = (answer: WholeAnswer): void => {
        if (answer.kind === "response") {
          // Before its first piece arrives. The first response counts.
          if (!isAnswered && answer.stream !== undefined) body = new StreamedBody(answer.stream);
          isAnswered = true;
          resolve(answer.response);
        }
        if (answer.kind !== "run") return;
        // The run ends behind its bodies, so this one is of an attempt that died.
        body?.cut();
        if (answer.run.error === null && endpoint.workflow !== undefined) resolve(emptyObject);
        else reject(unanswered(answer));
      };
      listening = ports.answers.listen(run, onAnswer, (piece, reply) => (body === undefined ? reply(false) : body.receive(piece, reply)));
      return { run, answerTo: listening.subject };
    });
    timer = setTimeout(() => reject(tooLate(config.answerTimeoutMs)), config.answerTimeoutMs);
    const given = await promise;
    clearTimeout(timer);
    // It may have closed while the response arrived, and no event would follow.
    if (given !== gone && !response.closed) await reply(given, body);
  } finally {
    body?.cut();
    clearTimeout(timer);
    listening?.end();
    response.off("close", onClose);
    permit.release();
  }
}

/** The run's id and error are visible to its owner, not to callers of its endpoint. */
function unanswered({ run }: Extract<WholeAnswer, { kind: "run" }>): PublicError {
  return run.error === null
    ? new PublicError(504, "no_response", "the run ended without a response")
    : new PublicError(500, "run_failed", "the run failed without a response");
}

const tooLate = (ms: number): PublicError => new PublicError(504, "response_timeout", `no response came within ${ms} ms`);
