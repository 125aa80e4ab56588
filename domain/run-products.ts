import { z } from "zod";

/** An error that user code threw or caused, with our frames removed from the stack. */
export interface RunError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  /** Stable and snake_case when a limit or rule of ours ended the run (`run_timeout`, `memory_limit`, `emit_without_id` …). */
  readonly code?: string;
}

export const runErrorSchema = z.object({
  name: z.string(),
  message: z.string(),
  stack: z.string().exactOptional(),
  code: z.string().exactOptional(),
});

/** The checked and normalized argument of `http.respond()`. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** UTF-8 text, or base64 when `base64` is true. */
  readonly body: string;
  readonly base64?: boolean;
  /** The body follows in pieces, and `body` is empty. Never in what is stored. */
  readonly isStreamed?: boolean;
}

/** Of a piece of a streamed body. */
export const maxPieceBytes = 128 * 1024;
/** Of all pieces of a streamed body. */
export const maxStreamedBytes = 512 * 2 ** 20;

/** The next bytes of a streamed body. */
export interface BodyPiece {
  /** Counts from 0: a run that is repeated begins again, and what it sends does not continue what its caller has read. */
  readonly index: number;
  readonly base64: string;
  readonly isLast: boolean;
}

/** Takes a piece of the body of a response. @returns false when the caller reads no more */
export type TakePiece = (piece: BodyPiece) => Promise<boolean>;

export const httpResponseSchema = z.object({
  status: z.number(),
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  body: z.string(),
  base64: z.boolean().exactOptional(),
});

/** One line of a source's log, as facts on `$logs`: `{k:"console.log", ts, msg}`, `{k:"error", ts, err}` … ts in epoch ms. */
export interface LogRecord {
  readonly k: string;
  readonly ts: number;
  readonly msg?: string;
  /** Hook name for `k: "hook"`. */
  readonly h?: string;
  readonly err?: RunError;
}

/** The fields that all kinds of records have. */
export const logRecordSchema = z.looseObject({ k: z.string(), ts: z.number() });
