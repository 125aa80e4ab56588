import type { Commit } from "../../domain/run/commit.ts";
import type { Invocation } from "../../domain/invocation/invocation.ts";
import type { Span, Traces } from "../../domain/traces.ts";
import type { RunnerPorts } from "../ports.ts";

/** The spans of one run: `source.run`, and in it `run.commit`. */
export class RunTrace {
  readonly #traces: Traces;
  readonly #run: Span;
  #commit: Span | undefined;

  constructor(traces: Traces, { source, trigger }: Invocation, parent: string | undefined) {
    this.#traces = traces;
    this.#run = traces.start("source.run", { traceparent: parent, attributes: { "source.id": source, trigger } });
  }

  /** @returns the parent of the deliveries */
  startCommit(): string {
    this.#commit = this.#traces.start("run.commit", { traceparent: this.#run.traceparent });
    return this.#commit.traceparent;
  }

  /** @param commit undefined if nothing was committed */
  end(commit: Pick<Commit, "owner" | "deployment" | "run" | "error" | "events"> | undefined): void {
    this.#commit?.end(commit === undefined ? { error: "refused" } : { attributes: { events: commit.events.length } });
    if (commit === undefined) return this.#run.end({ error: "not_committed" });
    const { owner, deployment, run, error } = commit;
    const attributes = { "run.id": run.id, "owner.id": owner, "deployment.id": deployment, cpu_ms: run.cpuMs };
    this.#run.end({ attributes, error: error === null ? undefined : (error.code ?? "threw") });
  }
}

/** Records how long the invocation was queued, until now. @returns the parent of the run */
export function traceWait(
  { invocation, storedAt }: { readonly invocation: Invocation; readonly storedAt: number },
  { traces, clock }: Pick<RunnerPorts, "traces" | "clock">,
): string | undefined {
  const { traceparent, source, trigger } = invocation;
  if (traces === undefined) return traceparent;
  const startedAt = Math.min(storedAt, clock.now()); // The clock of NATS may be ahead of ours.
  const span = traces.start("invocation.wait", { kind: "consumer", traceparent, startedAt, attributes: { "source.id": source, trigger } });
  span.end();
  return span.traceparent;
}
