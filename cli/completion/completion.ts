/** What completes the last word of a command line. */
export interface Completion {
  readonly words: readonly string[];
  /** What the argument refers to, which the caller looks up. */
  readonly reference?: string | undefined;
}
