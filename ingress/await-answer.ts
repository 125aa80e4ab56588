import type { ServerResponse } from "node:http";
import { HeadwaterError, UserCode } from "../domain/errors.ts";
import type { Answer, HttpResponse, Invocation } from "../domain/invocation.ts";
import { partitionOf } from "../domain/partition.ts";
import type { Packs } from "./packs.ts";
import type { IngressConfig, IngressPorts } from "./ports.ts";
import { replyResponse } from "./reply.ts";

interface Waiting {
  readonly config: IngressConfig;
  readonly ports: IngressPorts;
  readonly packs: Packs;
}

/** The caller went away: nobody is left to answer. */
const gone = Symbol("gone");

/**
 * Stores the invocation and waits for what the source gives to `respond()`: its response; 500 when the run failed without one; 504 when
 * the run ended without one, or none came in time. The run goes on whether or not anybody waits.
 */
export async function awaitAnswer(
  response: ServerResponse,
  pool: string,
  invocation: Invocation,
  { config, ports, packs }: Waiting,
): Promise<void> {
  const run = ports.newRunId();
  const { promise, resolve, reject } = Promise.withResolvers<HttpResponse | typeof gone>();
  // The publish may fail first, and then nobody looks at this promise any more.
  promise.catch(() => undefined);
  const listening = ports.answers.listen(run, (answer) => {
    if (answer.kind === "response") resolve(answer.response);
    if (answer.kind === "run") reject(unanswered(answer));
  });
  const timer = setTimeout(
    () => reject(noAnswer("response_timeout", `the source did not respond within ${config.answerTimeoutMs} ms`)),
    config.answerTimeoutMs,
  );
  const onClose = (): void => resolve(gone);
  response.once("close", onClose);
  try {
    const { source } = invocation;
    await packs.add(pool, partitionOf(source), source, JSON.stringify({ ...invocation, run, answerTo: listening.subject }));
    const given = await promise;
    if (given !== gone) replyResponse(response, given);
  } finally {
    clearTimeout(timer);
    listening.end();
    response.off("close", onClose);
  }
}

/** The message of a user's error belongs to the owner of the source, not to whoever calls its endpoint. */
function unanswered({ run }: Extract<Answer, { kind: "run" }>): HeadwaterError {
  return run.error === null
    ? noAnswer("no_response", `the run ${run.id} ended without respond()`)
    : new UserCode(`the run ${run.id} failed without respond()`, { code: "run_failed" });
}

const noAnswer = (code: string, message: string): HeadwaterError => new HeadwaterError(504, code, message);
