import { Forbidden, QuotaExceeded, Unavailable } from "../../../domain/errors.ts";
import { fileLimits, type RunFiles, type RunOfFiles } from "../../../domain/files/run-files.ts";
import { retry } from "../../../domain/retry.ts";
import type { ExecuteRequest } from "../port.ts";
import type { FileRequest } from "./protocol.ts";

/** Whose execution asks, and which files its run has. */
export interface FileUser {
  readonly owner: string;
  readonly files?: ExecuteRequest["files"] | undefined;
  /** Bytes that the execution has stored so far, also those that it has deleted or replaced since. */
  storedBytes?: number;
}

/** While NATS restarts. A part that was stored although its answer is lost is swept with the others of its run. */
const retries = { firstMs: 200, maxMs: 2_000, withinMs: 15_000, isTransient: (error: unknown) => error instanceof Unavailable };

/**
 * Performs what an execution asks of the files of its workflow run. The runner has said which run that is, and whose: the child names parts
 * only.
 *
 * @returns what `filed` answers
 * @throws Forbidden for an execution without files; what RunFiles throws
 */
export async function performFileCall(
  call: FileRequest,
  user: FileUser,
  runFiles: RunFiles | undefined,
  signal: AbortSignal,
): Promise<string> {
  const { owner, files } = user;
  if (files === undefined) throw new Forbidden("this execution has no files of a workflow run");
  if (runFiles === undefined) throw new Unavailable("this process has no access to the files of runs");
  const { workflow, run, layers } = files;
  const of: RunOfFiles = { owner, workflow, run };
  const attempt = <Result>(act: () => Promise<Result>): Promise<Result> => retry(act, { ...retries, signal });
  switch (call.kind) {
    case "list":
      return bounded(JSON.stringify(await attempt(() => runFiles.list(of, layers))));
    case "read": {
      const bytes = await attempt(() => runFiles.read(of, call.part));
      if (bytes.byteLength > fileLimits.partBytes) throw new Error(`the stored part has ${bytes.byteLength} bytes, too many`);
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
    }
    case "write": {
      const bytes = Buffer.from(call.base64, "base64");
      countStored(user, bytes.byteLength);
      return await attempt(() => runFiles.write(of, bytes));
    }
  }
}

function countStored(user: FileUser, bytes: number): void {
  const stored = (user.storedBytes ?? 0) + bytes;
  if (stored > fileLimits.runBytes)
    throw new QuotaExceeded(`a step may store ${fileLimits.runBytes / 2 ** 20} MiB of files in all, also what it deletes or writes again`, {
      code: "files_full",
    });
  user.storedBytes = stored;
}

/** It was stored under the same limit, so a longer one is damaged. */
function bounded(listing: string): string {
  if (Buffer.byteLength(listing) <= fileLimits.listingBytes) return listing;
  throw new Error(`the list of the run's files has more than ${fileLimits.listingBytes} bytes`);
}
