/** An error that user code threw or caused, with our frames removed from the stack. */
export interface RunError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  /** Stable and snake_case when a limit or rule of ours ended the run (`run_timeout`, `memory_limit`, `emit_without_id` …). */
  readonly code?: string;
}

/** The checked and normalized argument of `http.respond()`. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** UTF-8 text, or base64 when `base64` is true. */
  readonly body: string;
  readonly base64?: boolean;
}

/** One line of a source's log, as facts on `$logs`: `{k:"console.log", ts, msg}`, `{k:"error", ts, err}` … ts in epoch ms. */
export interface LogRecord {
  readonly k: string;
  readonly ts: number;
  readonly msg?: string;
  /** Hook name for `k: "hook"`. */
  readonly h?: string;
  readonly err?: RunError;
}
