import type { Commit } from "../../domain/run/commit.ts";
import type { Invocation } from "../../domain/invocation/invocation.ts";
import type { Span, Traces } from "../../domain/traces.ts";
import type { RunnerPorts } from "../ports.ts";

/** What traces see of one run. */
export class RunTrace {
  readonly #traces: Traces;
  readonly #run: Span;
  #commit: Span | undefined;

  /** @param follows what the run follows from */
  constructor(traces: Traces, { source, trigger }: Invocation, follows: string | undefined) {
    this.#traces = traces;
    this.#run = traces.start("source.run", { traceparent: follows, attributes: { "source.id": source, trigger } });
  }

  /** It has run: now it commits. @returns what deliveries follow from */
  commits(): string {
    this.#commit = this.#traces.start("run.commit", { traceparent: this.#run.traceparent });
    return this.#commit.traceparent;
  }

  /** @param commit undefined: it was refused, or there is none */
  end(commit: Commit | undefined): void {
    this.#commit?.end(commit === undefined ? { error: "refused" } : { attributes: { events: commit.events.length } });
    if (commit === undefined) return this.#run.end({ error: "not_committed" });
    const { owner, deployment, run, error } = commit;
    const attributes = { "run.id": run.id, "owner.id": owner, "deployment.id": deployment, cpu_ms: run.cpuMs };
    this.#run.end({ attributes, error: error === null ? undefined : (error.code ?? "threw") });
  }
}

/** Its turn has come. @returns what its run follows from */
export function traceWait(
  { invocation, storedAt }: { readonly invocation: Invocation; readonly storedAt: number },
  { traces, clock }: Pick<RunnerPorts, "traces" | "clock">,
): string | undefined {
  const { traceparent, source, trigger } = invocation;
  if (traces === undefined) return traceparent;
  const startedAt = Math.min(storedAt, clock.now()); // By the clock of the message server, which may go ahead of ours.
  const span = traces.start("invocation.wait", { kind: "consumer", traceparent, startedAt, attributes: { "source.id": source, trigger } });
  span.end();
  return span.traceparent;
}
