import type { OperatorConfig, OperatorPorts } from "../ports.ts";
import type { RunHook } from "./step.ts";

/** A hook that ran, or when it was first requested, epoch ms. */
export type HookOutcome = { readonly ran: true } | { readonly ran: false; readonly requestedAt: number; readonly isNewRequest: boolean };

/** How long a pass waits for a hook. Longer waits would block the reconciliation of other sources. */
const waitMs = 3_000;

/**
 * Requests runs of hooks and remembers them. Requests are idempotent, since a run is executed once; they are repeated when a hook is
 * overdue and after a restart.
 */
export class HookRuns {
  readonly #config: Pick<OperatorConfig, "hookTimeoutMs">;
  readonly #ports: Pick<OperatorPorts, "invocations" | "histories" | "clock">;
  readonly #requested = new Map<string, { readonly first: number; readonly last: number }>();

  constructor(config: Pick<OperatorConfig, "hookTimeoutMs">, ports: Pick<OperatorPorts, "invocations" | "histories" | "clock">) {
    this.#config = config;
    this.#ports = ports;
  }

  /** Waits briefly after a new request. For a known request the plan has already found that it has not run. */
  async run(step: RunHook, signal: AbortSignal): Promise<HookOutcome> {
    const run = runOf(step);
    const requested = this.#requested.get(run);
    const now = this.#ports.clock.now();
    if (requested !== undefined && now - requested.last < this.#config.hookTimeoutMs)
      return { ran: false, requestedAt: requested.first, isNewRequest: false };
    const requestedAt = requested?.first ?? now;
    this.#requested.set(run, { first: requestedAt, last: now });
    await this.#request(step, run);
    if (!(await this.#hasRunSoon(step, run, signal))) return { ran: false, requestedAt, isNewRequest: true };
    return { ran: true };
  }

  /** Forgets all requests for this source. */
  forget(source: string): void {
    for (const run of this.#requested.keys()) if (run.startsWith(prefixOf(source))) this.#requested.delete(run);
  }

  #request({ pool, source, hook, generation, discardEvents }: RunHook, run: string): Promise<void> {
    const invocation = { source, trigger: "hook", hook, run, generation } as const;
    return this.#ports.invocations.request(pool, { ...invocation, ...(discardEvents ? { discardEvents } : {}) });
  }

  async #hasRunSoon({ owner, source, hook }: RunHook, run: string, signal: AbortSignal): Promise<boolean> {
    const deadline = performance.now() + Math.min(waitMs, this.#config.hookTimeoutMs);
    do {
      const left = Math.ceil(Math.max(1, Math.min(1_000, deadline - performance.now())));
      await this.#ports.invocations.untilRun(run, AbortSignal.any([signal, AbortSignal.timeout(left)]));
      const state = await this.#ports.histories.state(owner, source);
      if (state?.hooks[hook]?.run === run) return true;
    } while (!signal.aborted && performance.now() < deadline);
    return false;
  }
}

/** Deterministic per attempt, so that a repeated request is deduplicated. */
function runOf({ source, hook, generation, attempt }: RunHook): string {
  return `${prefixOf(source)}${hook.slice(0, 3)}${generation}x${attempt}`;
}

const prefixOf = (source: string): string => `r_${source.slice(source.indexOf("_") + 1)}`;
