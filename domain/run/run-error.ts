/** An error that user code threw or caused, with our frames removed from the stack. */
export interface RunError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  /** Stable and snake_case when a limit or rule of ours ended the run (`run_timeout`, `memory_limit`, `emit_without_id` …). */
  readonly code?: string;
}
