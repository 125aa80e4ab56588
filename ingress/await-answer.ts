import type { ServerResponse } from "node:http";
import type { Budget } from "../domain/budget.ts";
import type { Answer, HttpResponse } from "../domain/invocation.ts";
import { overloaded, PublicError } from "./errors.ts";
import type { IngressConfig, IngressPorts } from "./ports.ts";

/** Where the runner sends its answers, as part of the invocation. */
export interface ReplyAddress {
  readonly run: string;
  readonly answerTo: string;
}

interface Waiting {
  readonly config: Pick<IngressConfig, "answerTimeoutMs">;
  readonly ports: Pick<IngressPorts, "answers" | "newRunId">;
  /** Requests that wait, by owner. */
  readonly waiting: Budget;
}

/** The caller went away: nobody is left to answer. */
const gone = Symbol("gone");

/**
 * Stores the invocation and waits for what the source gives to `respond()`: 500 when the run failed without it; 504 when the run ended
 * without it, or it did not come in time. The run goes on whether or not anybody waits.
 *
 * @param store calls back for the address once it has read the request. It alone holds the body, which must not be kept while we wait
 * @returns undefined when the caller has left
 */
export async function awaitAnswer(
  response: ServerResponse,
  owner: string,
  { config, ports, waiting }: Waiting,
  store: (replyAddress: () => ReplyAddress) => Promise<void>,
): Promise<HttpResponse | undefined> {
  const place = waiting.open(owner);
  const { promise, resolve, reject } = Promise.withResolvers<HttpResponse | typeof gone>();
  // Storing may fail first, and then nobody looks at this promise any more.
  promise.catch(() => undefined);
  let listening: { readonly subject: string; end(): void } | undefined;
  let timer: NodeJS.Timeout | undefined;
  const onClose = (): void => resolve(gone);
  response.once("close", onClose);
  try {
    await store(() => {
      if (!place.take(1)) throw overloaded("too many requests wait for answers of this endpoint");
      const run = ports.newRunId();
      listening = ports.answers.listen(run, (answer) => {
        if (answer.kind === "response") resolve(answer.response);
        if (answer.kind === "run") reject(unanswered(answer));
      });
      return { run, answerTo: listening.subject };
    });
    timer = setTimeout(() => reject(tooLate(config.answerTimeoutMs)), config.answerTimeoutMs);
    const given = await promise;
    return given === gone ? undefined : given;
  } finally {
    clearTimeout(timer);
    listening?.end();
    response.off("close", onClose);
    place.release();
  }
}

/** The run's id and error belong to the owner of the source, not to whoever calls its endpoint. */
function unanswered({ run }: Extract<Answer, { kind: "run" }>): PublicError {
  return run.error === null
    ? new PublicError(504, "no_response", "the run ended without a response")
    : new PublicError(500, "run_failed", "the run failed without a response");
}

const tooLate = (ms: number): PublicError => new PublicError(504, "response_timeout", `no response came within ${ms} ms`);
