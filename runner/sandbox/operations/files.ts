import { fileLimits, isPartName } from "../../../domain/files/run-files.ts";
import { bytesArgument, ownedBytes, textArgument } from "./arguments.ts";
import type { AsyncOperation, OperationContext } from "./context.ts";
import type { FileCall, FileResult } from "./file-call.ts";
import { withSlot } from "./slots.ts";
import { charge, outOfDebt } from "./sync-meter.ts";

/** Of one isolate at once; the others wait. */
const concurrent = 4;
/** Writes of one run that are in flight or wait: each holds its bytes. The guest's own code makes no more than half of them. */
const maxWrites = 16;
const maxNameLength = 64;
/** Time of the host's thread that a call takes: its bytes are copied, and are text between the processes. */
const callMs = 1;
/** How long a guest's thread sleeps for a call. While it does, its isolate can do nothing else, and the time counts as computing. */
const maxWaitMs = 3_000;

type FileOperation = (context: OperationContext, args: readonly unknown[], signal: AbortSignal) => Promise<unknown>;

/** On the files of the workflow run that the parent knows. */
const operations: Readonly<Record<string, FileOperation>> = {
  file_list: (context, _, signal) => ask(context, { kind: "list" }, signal),
  file_read: async (context, [name], signal) => {
    const part = textArgument(name, "part", maxNameLength);
    if (!isPartName(part)) throw Object.assign(new TypeError("part must be the name of a part"), { code: "ERR_INVALID_ARG_VALUE" });
    const bytes = await ask(context, { kind: "read", part }, signal);
    return typeof bytes === "string" ? bytes : ownedBytes(bytes);
  },
  file_write: async (context, [given], signal) => {
    const bytes = bytesArgument(given, "bytes", fileLimits.partBytes);
    const writes = (writesOf.get(context) ?? 0) + 1;
    if (writes > maxWrites) throw coded(`more than ${maxWrites} parts of files are being stored`, "limit_exceeded");
    writesOf.set(context, writes);
    try {
      return await ask(context, { kind: "write", bytes }, signal);
    } finally {
      writesOf.set(context, (writesOf.get(context) ?? 1) - 1);
    }
  },
};

export const filesAsync: Record<string, AsyncOperation> = mapped(
  (operation) => (context, args) => operation(context, args, context.signal),
);

/** For synchronous functions of the guest. */
export const filesWaited: Record<string, AsyncOperation> = mapped((operation) => async (context, args) => {
  const timeout = AbortSignal.timeout(maxWaitMs);
  try {
    return await operation(context, args, AbortSignal.any([context.signal, timeout]));
  } catch (error) {
    if (!timeout.aborted) throw error;
    throw coded(`the files of the run did not answer within ${maxWaitMs} ms; fs.promises and streams wait longer`, "files_unavailable");
  }
});

const writesOf = new WeakMap<OperationContext, number>();

function ask(context: OperationContext, call: FileCall, signal: AbortSignal): Promise<FileResult> {
  const perform = async (): Promise<FileResult> => {
    await outOfDebt(context, signal);
    charge(context, callMs);
    return await context.network.askFiles(call, signal);
  };
  return withSlot(context, "files", concurrent, perform, signal);
}

function mapped(change: (operation: FileOperation) => AsyncOperation): Record<string, AsyncOperation> {
  return Object.fromEntries(Object.entries(operations).map(([name, operation]) => [name, change(operation)]));
}

const coded = (message: string, code: string): Error => Object.assign(new Error(message), { code });
