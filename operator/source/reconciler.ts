import { labels } from "../../crds/resource.ts";
import { sourceKind } from "../../crds/source.ts";
import { Invariant } from "../../domain/errors.ts";
import { isId } from "../../domain/ids.ts";
import { parseKey } from "../controller/informer.ts";
import type { EndConnections } from "../end-connections.ts";
import type { OperatorConfig, OperatorPorts } from "../ports.ts";
import { apply, type Applied } from "./apply/apply.ts";
import type { PlanInputs } from "./plan/inputs.ts";
import { HookRuns, type HookOutcome } from "./apply/hook-runs.ts";
import { pollAfterMs } from "./plan/poll.ts";
import { observe } from "./observe/observe.ts";
import { plan } from "./plan/plan.ts";
import { PropReloads } from "./apply/prop-reloads.ts";
import type { Observed } from "./observe/observed.ts";
import { reportBlocked, reportWaiting } from "./report.ts";
import type { SourceResource } from "./observe/resources.ts";
import type { Slugs } from "./apply/slugs.ts";
import type { Step } from "./plan/step.ts";
import { UpdateAttempts } from "./update/update-attempts.ts";

/** More rounds than any life cycle needs; beyond that the plan does not converge. */
const maxRounds = 20;

/** Observes, plans and applies until nothing is left to do or a hook is running. */
export function sourceReconciler(
  config: OperatorConfig,
  ports: OperatorPorts,
  slugs: Slugs,
  endConnections: EndConnections = () => Promise.resolve(),
) {
  const hooks = new HookRuns(config, ports);
  const reloads = new PropReloads(ports);
  const attempts = new UpdateAttempts(ports.clock);
  return async (key: string, signal: AbortSignal): Promise<number | undefined> => {
    const { namespace, name } = parseKey(key);
    for (let round = 0; round < maxRounds; round++) {
      let source = await ports.store.find(sourceKind, namespace, name);
      if (source === undefined) return;
      const seen = { ...(await observe(source, ports)), reloaded: reloads.find(source) };
      const observed = { ...seen, failure: attempts.failureOf(seen) };
      const steps = plan(observed, { ...planInputs(source, config, ports, slugs), retryHook: attempts.isRetryDue(observed) });
      if (steps.length === 0) {
        hooks.forget(source.status.id ?? "");
        return earliest(pollAfterMs(observed, config, ports), attempts.retryAfterMs(observed));
      }
      for (const step of steps) {
        signal.throwIfAborted();
        if (step.do === "reload-props") {
          if (!(await reloads.run(observed, step.digest, signal))) return waitForProps(observed, ports);
        } else if (step.do === "end-connections") await endConnections(source);
        else if (step.do !== "run-hook") {
          const applied = await applyStep(step, source, observed);
          if (applied === "cannot be done") break;
          source = applied;
        } else {
          const outcome = await hooks.run(step, signal);
          if (!outcome.ran) return waitForHook(step, outcome, source, config, ports);
        }
      }
      if (steps.at(-1)?.do === "claim-props" || steps.at(-1)?.do === "release") reloads.forget(source);
      if (steps.at(-1)?.do === "release") {
        hooks.forget(source.status.id ?? "");
        attempts.forget(source);
      }
    }
    throw new Invariant(`source ${key} is not settled after ${maxRounds} plans`);
  };

  /** A step that can never succeed fails its update: the next plan restores the previous version. */
  async function applyStep(step: Applied, source: SourceResource, observed: Observed): Promise<SourceResource | "cannot be done"> {
    try {
      return await apply(step, source, ports);
    } catch (error) {
      if (observed.failure !== undefined || !attempts.fail(observed, step, error)) throw error;
      return "cannot be done";
    }
  }
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

function planInputs(source: SourceResource, config: OperatorConfig, ports: OperatorPorts, slugs: Slugs): Omit<PlanInputs, "retryHook"> {
  const labelled = source.metadata.labels[labels.id];
  return {
    // Users can write labels, and ids become parts of subjects and keys.
    id: labelled !== undefined && isId("source", labelled) ? labelled : ports.newId("source"),
    deployment: ports.newId("deployment"),
    endpointKey: ports.randomKey(),
    nameSlug: source.metadata.deletionTimestamp === undefined ? slugs.claim(source) : (source.status.nameSlug ?? ""),
    ingressUrl: config.ingressUrl,
    maxDeactivateWaitMs: config.hookTimeoutMs,
    now: ports.clock.now(),
  };
}
