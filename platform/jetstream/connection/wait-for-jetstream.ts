import { Unavailable } from "../../../domain/errors.ts";
import { retry } from "../../../domain/retry.ts";
import type { Connection } from "./connection.ts";

const requestTimeoutMs = 1_000;
/** Error codes of NATS that pass after a start: no leader is elected yet, or JetStream is not enabled yet, in the server or for the account. */
const startingCodes: readonly number[] = [10_008, 10_039, 10_076];

/**
 * Waits until JetStream answers requests. After a start, servers in a cluster need seconds to elect a leader and to enable JetStream for each
 * account. Requests that they do not answer in that time would wait for a minute when they change a stream, so this one is short and repeated.
 *
 * @throws Unavailable when JetStream has not answered within `waitMs`, milliseconds.
 */
export async function waitForJetStream(connection: Connection, waitMs: number): Promise<void> {
  const requireAnswer = async (): Promise<void> => {
    const cause = await findReason(connection);
    if (cause !== undefined)
      throw new Unavailable(
        `JetStream has not answered for ${waitMs / 1_000} s: more than half of the NATS servers must be up, with JetStream enabled for the account`,
        { cause },
      );
  };
  await retry(requireAnswer, { firstMs: 200, maxMs: 1_000, withinMs: waitMs });
}

/** Undefined once NATS answers. Other errors count as answers: the caller's own request reports them. */
async function findReason({ nats, apiPrefix }: Connection): Promise<unknown> {
  try {
    const answer = await nats.request(`${apiPrefix}.INFO`, "", { timeout: requestTimeoutMs });
    const { error } = answer.json<{ readonly error?: { readonly err_code: number } }>();
    return error !== undefined && startingCodes.includes(error.err_code) ? error : undefined;
  } catch (error) {
    return error;
  }
}
