/**
 * Measures how much a run made its child grow while nothing else ran there.
 *
 * The child's memory belongs to all isolates in it, so its size alone proves nothing. A computing isolate cannot be asked for its heap,
 * but growth during a time when only one execution was in flight belongs to that execution.
 */
export class SoleRunGrowth {
  readonly #childLimitBytes: number;
  #sole: { readonly id: number; readonly baselineBytes: number; readonly isolateLimitBytes: number } | undefined;

  /** @param childLimitBytes the resident memory at which the child is killed */
  constructor(childLimitBytes: number) {
    this.#childLimitBytes = childLimitBytes;
  }

  /** The execution is the only one in the child from now on. */
  begin(id: number, residentBytes: number, isolateLimitBytes: number): void {
    this.#sole = { id, baselineBytes: residentBytes, isolateLimitBytes };
  }

  /** Several executions are in flight, or none. */
  end(): void {
    this.#sole = undefined;
  }

  /** The execution that grew the child by more than its own isolate may hold, or by more than half of what the child may hold. */
  culprit(residentBytes: number): number | undefined {
    if (this.#sole === undefined) return undefined;
    const { id, baselineBytes, isolateLimitBytes } = this.#sole;
    return residentBytes - baselineBytes > Math.min(isolateLimitBytes, this.#childLimitBytes / 2) ? id : undefined;
  }
}
