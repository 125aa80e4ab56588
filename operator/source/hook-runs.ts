import type { OperatorConfig, OperatorPorts } from "../ports.ts";
import type { Step } from "./step.ts";

type RunHook = Extract<Step, { do: "run-hook" }>;

/** What became of a hook that was asked for: it ran, or when it was first asked for, epoch ms. */
export type HookOutcome = { readonly ran: true } | { readonly ran: false; readonly askedAt: number; readonly justAsked: boolean };

/** A hook that takes longer is looked for again later: whoever waits for it holds up other sources. */
const waitMs = 3_000;

/**
 * Asks for runs of hooks and remembers which were asked for. Asking twice does no harm, since a run is run once; it is done again
 * when a hook is overdue and after a restart.
 */
export class HookRuns {
  readonly #config: Pick<OperatorConfig, "hookTimeoutMs">;
  readonly #ports: Pick<OperatorPorts, "invocations" | "histories" | "clock">;
  readonly #asked = new Map<string, { readonly first: number; readonly last: number }>();

  constructor(config: Pick<OperatorConfig, "hookTimeoutMs">, ports: Pick<OperatorPorts, "invocations" | "histories" | "clock">) {
    this.#config = config;
    this.#ports = ports;
  }

  /** Waits a little when it has just been asked for; a plan that comes back to it knows that it has not run yet. */
  async run(step: RunHook, signal: AbortSignal): Promise<HookOutcome> {
    const run = runOf(step);
    const asked = this.#asked.get(run);
    const now = this.#ports.clock.now();
    if (asked !== undefined && now - asked.last < this.#config.hookTimeoutMs) return { ran: false, askedAt: asked.first, justAsked: false };
    const askedAt = asked?.first ?? now;
    this.#asked.set(run, { first: askedAt, last: now });
    await this.#ask(step, run);
    if (!(await this.#hasRunSoon(step, run, signal))) return { ran: false, askedAt, justAsked: true };
    return { ran: true };
  }

  /** Nothing of this source is waited for any more. */
  forget(source: string): void {
    for (const run of this.#asked.keys()) if (run.startsWith(prefixOf(source))) this.#asked.delete(run);
  }

  #ask({ pool, source, hook, generation, discardEvents }: RunHook, run: string): Promise<void> {
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

/** The same for the same attempt: by it a run that was asked for twice is run once. */
function runOf({ source, hook, generation, attempt }: RunHook): string {
  return `${prefixOf(source)}${hook.slice(0, 3)}${generation}x${attempt}`;
}

const prefixOf = (source: string): string => `r_${source.slice(source.indexOf("_") + 1)}`;
