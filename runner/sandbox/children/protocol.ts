import { type BodyPiece, type HttpResponse, type LogRecord, maxPieceBytes } from "../../../domain/run-products.ts";
import type { TimeLimits } from "../limits.ts";
import type { StoreResult } from "../../../domain/data-store/data-stores.ts";
import { fileLimits } from "../../../domain/files/run-files.ts";
import type { EgressPolicy } from "../network/connector.ts";
import type { FileCall } from "../operations/file-call.ts";
import { maxPropLength, type StoreCall } from "../operations/store-call.ts";
import { maxNameLength, type NameQuery } from "../operations/network/network.ts";
import type { ExecuteRequest, Execution, Inspection, InspectRequest } from "../port.ts";
import type { FrameLimits } from "../frames.ts";
import type { Warm } from "../isolate/warm-isolates.ts";

/** Messages of the parent to a child. */
export type ToChild =
  | { readonly kind: "start"; readonly options: ChildOptions }
  | {
      readonly kind: "execute";
      readonly id: number;
      readonly request: ExecuteRequest;
      /** The source gets an isolate of its own. */ readonly isApart: boolean;
      readonly wantsResponse: boolean;
    }
  | { readonly kind: "inspect"; readonly id: number; readonly request: InspectRequest }
  | { readonly kind: "evict"; readonly source: string }
  | { readonly kind: "ping" }
  /** To `open`: its connected socket is the next one on `descriptorsDescriptor`. */
  | { readonly kind: "opened"; readonly id: number }
  /** To `resolve`. */
  | { readonly kind: "resolved"; readonly id: number; readonly records: unknown }
  /** To `store`. */
  | { readonly kind: "stored"; readonly id: number; readonly result: StoreResult }
  /** To `file`: JSON text of the entries, the bytes of the part as base64, or the name of the stored part. */
  | { readonly kind: "filed"; readonly id: number; readonly result: string }
  /** To `body`. */
  | { readonly kind: "taken"; readonly id: number; readonly isTaken: boolean }
  /** To all five. */
  | { readonly kind: "refused"; readonly id: number; readonly error: PlainError }
  /** A message of a debugger to V8's inspector. */
  | { readonly kind: "debug"; readonly message: string };

export interface PlainError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
}

/**
 * Messages of a child to its parent. The parent takes them for those of an attacker: `from-child.ts` checks their form, and the parent
 * ends a child that sends one out of turn.
 */
export type FromChild =
  /** Once, after `start`. */
  | { readonly kind: "ready" }
  /** At most once for an execution whose request wants it, before it ends. */
  | { readonly kind: "response"; readonly id: number; readonly response: HttpResponse }
  /** The execution has lasted a moment, and computes nothing now: at most once, before it ends. */
  | { readonly kind: "paused"; readonly id: number }
  | { readonly kind: "executed"; readonly id: number; readonly execution: Execution }
  | { readonly kind: "inspected"; readonly id: number; readonly inspection: Inspection }
  /** Once for each `ping`. */
  | {
      readonly kind: "pong";
      readonly warm: Warm;
      /** Sources evicted since the last `pong` to make room for others. */ readonly evictions: number;
    }
  /** A connection for an execution of this child. The owner whose share and policy count is that of the execution. */
  | { readonly kind: "open"; readonly id: number; readonly execution: number; readonly host: string; readonly port: number }
  | { readonly kind: "resolve"; readonly id: number; readonly execution: number; readonly query: NameQuery; readonly name: string }
  /** An operation on the data store of a prop of an execution of this child. The parent knows which store that is. */
  | ({ readonly kind: "store"; readonly id: number; readonly execution: number } & StoreCall)
  /** Reads or stores files of the workflow run of an execution of this child. The parent knows which run that is. */
  | { readonly kind: "file"; readonly id: number; readonly execution: number; readonly call: FileRequest }
  /** The next bytes of the body of a streamed `response`. The parent knows who reads it. */
  | ({ readonly kind: "body"; readonly id: number; readonly execution: number } & BodyPiece)
  /** Of an `open`, `resolve`, `store`, `file` or `body`, which is answered nevertheless. At most once for each. */
  | { readonly kind: "cancel"; readonly id: number }
  /** A message of V8's inspector to a debugger. Only of a child that is debugged, as is `log`. */
  | { readonly kind: "debug"; readonly message: string }
  /** A line of the log, when it is written. The outcome of its execution has it as well. */
  | { readonly kind: "log"; readonly record: LogRecord }
  /** The child must be replaced; it takes no more work. At most once. */
  | { readonly kind: "poisoned"; readonly reason: string };

/** A FileCall with base64 in place of bytes. */
export type FileRequest = Exclude<FileCall, { kind: "write" }> | { readonly kind: "write"; readonly base64: string };

export function toFileRequest(call: FileCall): FileRequest {
  if (call.kind !== "write") return call;
  const { buffer, byteOffset, byteLength } = call.bytes;
  return { kind: "write", base64: Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength).toString("base64") };
}

export const base64Length = (bytes: number): number => 4 * Math.ceil(bytes / 3);

const MiB = 2 ** 20;

export const toChildLimits: FrameLimits<ToChild["kind"]> = {
  start: MiB,
  execute: 256 * MiB,
  inspect: MiB,
  evict: MiB,
  ping: 1024,
  opened: 1024,
  resolved: 6 * MiB,
  stored: 16 * MiB,
  // Quotes and backslashes of a listing become two characters.
  filed: Math.max(2 * fileLimits.listingBytes, base64Length(fileLimits.partBytes)) + 1024,
  taken: 1024,
  refused: 64 * 1024,
  debug: 16 * MiB,
};

/** A body of control characters alone has six times its length as JSON: `limits.responseBytes`, and products and a result beside it. */
export const fromChildLimits: FrameLimits<FromChild["kind"]> = {
  ready: 1024,
  response: 26 * MiB,
  paused: 1024,
  executed: 64 * MiB,
  inspected: 16 * MiB,
  pong: 1024,
  poisoned: 64 * 1024,
  open: 6 * maxNameLength + 1024,
  resolve: 6 * maxNameLength + 1024,
  store: 6 * (MiB + maxPropLength) + 8 * 1024,
  file: base64Length(fileLimits.partBytes) + 1024,
  body: base64Length(maxPieceBytes) + 1024,
  cancel: 1024,
  // A child that is not debugged sends none.
  debug: 0,
  log: 0,
};

/** The same of a child that is debugged, on the machine of a developer. */
export const debuggedChildLimits: typeof fromChildLimits = { ...fromChildLimits, debug: 128 * MiB, log: MiB };

/** Requests for names and connections that one child may have unanswered. */
export const maxRequests = 512;

/** Operations on data stores that one child may have unanswered: each may have a value of 1 MiB. */
export const maxStoreRequests = 32;

/** Calls on files that one child may have unanswered: each may have a part. */
export const maxFileRequests = 16;

/** Pieces of bodies that one child may have unanswered. */
export const maxBodyRequests = 64;

export interface ChildOptions {
  /** Guest scripts; their code caches are beside them. */
  readonly webPath: string;
  readonly nodePath: string;
  /** Absent: the parent connects, and the child asks it. */
  readonly egress?: Pick<EgressPolicy, "allow" | "server">;
  readonly memoryBudgetBytes: number;
  readonly timeLimits: TimeLimits;
  /** Its executions are debugged. Absent: they are not. */
  readonly debug?: { readonly waits: boolean };
}
