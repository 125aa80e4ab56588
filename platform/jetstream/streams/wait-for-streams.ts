import { Unavailable } from "../../../domain/errors.ts";
import { retry } from "../../../domain/retry.ts";
import type { Connection } from "../connection/connection.ts";
import { missingStreams } from "./streams.ts";

const notSetUp = "not_set_up";
const defaultWaitMs = 60_000;

export interface WaitLog {
  warn(fields: object, message: string): void;
}

/** Waits until setup, or the process that may do its work, has created the streams: roles may start in any order. @throws Unavailable */
export async function waitForStreams(connection: Connection, log: WaitLog, waitMs = defaultWaitMs): Promise<void> {
  const requireStreams = async (): Promise<void> => {
    const missing = await missingStreams(connection);
    if (missing?.length === 0) return;
    const problem = missing === undefined ? "has no streams of Headwater yet" : `lacks streams of this version (${missing.join(", ")})`;
    throw new Unavailable(
      `NATS ${problem}, after ${waitMs / 1000} s of waiting: run setup of this version (npm start -- --setup), or start the operator; in a cluster look at the Job headwater-setup`,
      { code: notSetUp, details: missing ?? "all" },
    );
  };
  const isTransient = (error: unknown): boolean => error instanceof Unavailable && error.code === notSetUp;
  const onFailure = (error: unknown, failures: number): void => {
    if (failures > 1 || !(error instanceof Unavailable)) return;
    log.warn({ op: "nats.wait", missing: error.details }, "NATS lacks streams of this version: waiting for setup (npm start -- --setup)");
  };
  await retry(requireStreams, { firstMs: 250, withinMs: waitMs, isTransient, onFailure });
}
