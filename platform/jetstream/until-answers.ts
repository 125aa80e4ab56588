import { Unavailable } from "../../domain/errors.ts";
import type { Connection } from "./connection.ts";

const askedForMs = 1_000;
/** The server's code for a cluster without a leader. */
const withoutLeader = 10_008;

/**
 * Servers that keep streams together elect one that makes them, some seconds after their start. What it is asked before nobody answers,
 * and whoever changes streams waits for a minute for its answer: so this asks briefly, again and again.
 *
 * @throws Unavailable
 */
export async function untilAnswers(connection: Connection, waitMs: number): Promise<void> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const asked = performance.now();
    const why = await whyNot(connection);
    if (why === undefined) return;
    if (performance.now() > deadline)
      throw new Unavailable(`JetStream has not answered for ${waitMs / 1_000} s: of several servers more than half must be up`, {
        cause: why,
      });
    await new Promise((resolve) => setTimeout(resolve, Math.max(100, askedForMs - (performance.now() - asked))));
  }
}

/** Any answer but that one will do: what else is wrong is told to whoever goes on. */
async function whyNot({ nats, apiPrefix }: Connection): Promise<unknown> {
  try {
    const answer = await nats.request(`${apiPrefix}.INFO`, "", { timeout: askedForMs });
    const { error } = answer.json<{ readonly error?: { readonly err_code: number } }>();
    return error?.err_code === withoutLeader ? error : undefined;
  } catch (error) {
    return error;
  }
}
