import type { RunFiles } from "../domain/files/run-files.ts";
import type { Connection } from "../platform/jetstream/connection/connection.ts";
import { createRunFiles } from "../platform/jetstream/files/run-files.ts";
import { requestStreamUsage } from "../platform/jetstream/requests/stream-usage.ts";
import type { OwnerUsage } from "../runner/commit/ports.ts";
import { StreamShares, type Refusal } from "../runner/commit/stream-shares.ts";

/** The files of runs, within the shares of their owners. @param pool that asks what an owner has stored */
export function openRunFiles(connection: Connection, pool: string): RunFiles {
  const usage = (owner: string, moreBytes: number): Promise<OwnerUsage> => requestStreamUsage(connection, pool, "files", owner, moreBytes);
  const shares = new StreamShares({ usage }, noRoomForFiles, () => performance.now());
  return createRunFiles(connection, (owner, bytes) => shares.reserve(owner, bytes));
}

const noRoomForFiles: Refusal = (held, more, share) =>
  `the files of the owner's runs have ${held} bytes, and with ${more} more they exceed the owner's share, which is ${share} bytes now: write less, or cancel suspended runs; files of runs are deleted within a day after their end`;
