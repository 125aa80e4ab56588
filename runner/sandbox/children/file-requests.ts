import { Forbidden, QuotaExceeded, Unavailable } from "../../../domain/errors.ts";
import { chargeOf, fileLimits, fileRetries, type RunFiles, type RunOfFiles } from "../../../domain/files/run-files.ts";
import { retry } from "../../../domain/retry.ts";
import type { ExecuteRequest } from "../port.ts";
import type { FileRequest } from "./protocol.ts";

/** Whose execution asks, and which files its run has. */
export interface FileUser {
  readonly owner: string;
  readonly files?: ExecuteRequest["files"] | undefined;
  /** Bytes that the execution has stored so far, also those that it has deleted or replaced since. */
  storedBytes?: number;
  /** How often it has asked for the list: an honest guest asks once, and once more if its isolate was disposed. */
  lists?: number;
}

const maxLists = 8;

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
  const attempt = <Result>(act: () => Promise<Result>): Promise<Result> => retry(act, { ...fileRetries, signal });
  switch (call.kind) {
    case "list":
      user.lists = (user.lists ?? 0) + 1;
      if (user.lists > maxLists) throw new Forbidden(`an execution may list its files ${maxLists} times`);
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
  const stored = (user.storedBytes ?? 0) + chargeOf(bytes);
  if (stored > fileLimits.runBytes)
    throw new QuotaExceeded(`a step may store ${fileLimits.runBytes / 2 ** 20} MiB of files in all, also what it deletes or writes again`, {
      code: "files_full",
    });
  user.storedBytes = stored;
}

/** Each step has kept the limit, but steps side by side may exceed it together. */
function bounded(listing: string): string {
  const bytes = Buffer.byteLength(listing);
  if (bytes <= fileLimits.listingBytes) return listing;
  throw new QuotaExceeded(
    `the names and parts of the run's files have ${bytes} bytes of JSON, and may have ${fileLimits.listingBytes}: steps that ran side by side have stored too many files together`,
    { code: "files_full" },
  );
}
