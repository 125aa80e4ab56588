import { holderOf } from "../../../crds/secret-values.ts";
import { sourceKind, type SourceResource } from "../../../crds/source.ts";
import type { EndConnections } from "../../end-connections.ts";
import type { OperatorConfig, OperatorPorts } from "../../ports.ts";
import type { Observed } from "../observe/observed.ts";
import { pollAfterMs } from "../plan/poll.ts";
import type { Step } from "../plan/step.ts";
import { reportBlocked, reportWaiting } from "../report.ts";
import { UpdateAttempts } from "../update/update-attempts.ts";
import { apply, type Applied } from "./apply.ts";
import { HookRuns, type HookOutcome } from "./hook-runs.ts";
import { PropReloads, type Reloadable } from "../../configured/prop-reloads.ts";

/** Runners send the acks of ended invocations within a quarter of a second. */
const queuePollMs = 150;

/**
 * Runs the steps of plans. Between plans it remembers what no resource records: requested hooks, results of `additionalProps`, and steps of
 * an update that can never succeed. All of it is found again after a restart.
 */
export class PlanRunner {
  readonly #config: OperatorConfig;
  readonly #ports: OperatorPorts;
  readonly #endConnections: EndConnections;
  readonly #hooks: HookRuns;
  readonly #reloads: PropReloads;
  readonly #attempts: UpdateAttempts;

  constructor(config: OperatorConfig, ports: OperatorPorts, endConnections: EndConnections) {
    this.#config = config;
    this.#ports = ports;
    this.#endConnections = endConnections;
    this.#hooks = new HookRuns(config, ports);
    this.#reloads = new PropReloads(ports);
    this.#attempts = new UpdateAttempts(ports.clock);
  }

  /** Adds what is remembered of the source. */
  withMemory(seen: Observed): Observed {
    const observed = { ...seen, reloaded: this.#reloads.find(seen.source.metadata.uid) };
    return { ...observed, failure: this.#attempts.failureOf(observed) };
  }

  isRetryDue(observed: Observed): boolean {
    return this.#attempts.isRetryDue(observed);
  }

  /** Call it when the plan is empty. @returns ms until the next pass; undefined if none is needed */
  settled(observed: Observed): number | undefined {
    this.#hooks.forget(observed.source.status.id ?? "");
    return earliest(pollAfterMs(observed, this.#config, this.#ports), this.#attempts.retryAfterMs(observed));
  }

  /** @returns ms until the next pass if a hook or a call is running; undefined when the source can be observed again */
  async run(steps: readonly Step[], observed: Observed, signal: AbortSignal): Promise<number | undefined> {
    let { source } = observed;
    for (const step of steps) {
      signal.throwIfAborted();
      const result = await this.#runStep(step, source, observed, signal);
      if (typeof result === "number") return result;
      if (result === "cannot be done") break;
      source = result;
    }
    this.#forget(source, steps.at(-1));
    return undefined;
  }

  async #runStep(
    step: Step,
    source: SourceResource,
    observed: Observed,
    signal: AbortSignal,
  ): Promise<SourceResource | number | "cannot be done"> {
    switch (step.do) {
      case "reload-props":
        return (await this.#reloads.run(reloadable(observed), step.digest, signal)) ? source : waitForProps(observed, this.#ports);
      case "await-queue":
        return queuePollMs;
      case "end-connections":
        await this.#endConnections(source);
        return source;
      case "run-hook": {
        const outcome = await this.#hooks.run(step, signal);
        return outcome.ran ? source : waitForHook(step, outcome, source, this.#config, this.#ports);
      }
      default:
        return this.#apply(step, source, observed);
    }
  }

  /** A step that can never succeed fails its update: the next plan restores the previous version. */
  async #apply(step: Applied, source: SourceResource, observed: Observed): Promise<SourceResource | "cannot be done"> {
    try {
      return await apply(step, source, this.#ports);
    } catch (error) {
      if (observed.failure !== undefined || !this.#attempts.fail(observed, step, error)) throw error;
      return "cannot be done";
    }
  }

  #forget(source: SourceResource, last: Step | undefined): void {
    if (last?.do === "claim-props" || last?.do === "release") this.#reloads.forget(source);
    if (last?.do !== "release") return;
    this.#hooks.forget(source.status.id ?? "");
    this.#attempts.forget(source);
  }
}

function reloadable({ source, owner = "", component }: Observed): Reloadable {
  const { metadata, spec, status } = source;
  const holder = holderOf(sourceKind, source);
  return { key: metadata.uid, holder, owner, id: status.id ?? "", component, spec, status, endpoint: status.endpoint ?? null };
}

function earliest(...waits: readonly (number | undefined)[]): number | undefined {
  const known = waits.filter((wait) => wait !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Returns so that other sources get a turn. Most hooks finish within seconds; an overdue one has no runner, or only slow ones. */
async function waitForHook(
  { hook }: Extract<Step, { do: "run-hook" }>,
  { requestedAt, isNewRequest }: Extract<HookOutcome, { ran: false }>,
  source: SourceResource,
  config: OperatorConfig,
  ports: OperatorPorts,
): Promise<number> {
  const waitedMs = ports.clock.now() - requestedAt;
  const since = new Date(requestedAt).toISOString();
  const steps =
    waitedMs < config.hookTimeoutMs
      ? reportWaiting({ source }, hook, "HookRunning", `was requested at ${since}`)
      : reportWaiting({ source }, hook, "HookOverdue", `was requested at ${since} and has not run: check that a runner is up`);
  if (isNewRequest && source.metadata.deletionTimestamp !== undefined) recordDeletionWait(hook, source, config, ports);
  for (const step of steps) if (step.do === "report") await apply(step, source, ports);
  return waitedMs < 30_000 ? 500 : 5_000;
}

/** Returns so that other sources get a turn: the call may take up to its time limit, or wait for a pool to start. */
async function waitForProps(observed: Observed, ports: OperatorPorts): Promise<number> {
  const message = "additionalProps of its component was called and has not ended: check that a runner is up";
  for (const step of reportBlocked(observed, { reason: "AdditionalPropsPending", message, transient: true }))
    if (step.do === "report") await apply(step, observed.source, ports);
  return 500;
}

function recordDeletionWait(hook: string, source: SourceResource, { hookTimeoutMs }: OperatorConfig, { events }: OperatorPorts): void {
  const limit = `for at most ${Math.round(hookTimeoutMs / 1_000)} s`;
  events.record(source, { type: "Normal", reason: "DeletionWaits", message: `the deletion waits for hook ${hook}, ${limit}` });
}
