import { labels } from "../../crds/resource.ts";
import { sourceKind } from "../../crds/source.ts";
import { Invariant } from "../../domain/errors.ts";
import { isId } from "../../domain/ids.ts";
import { parseKey } from "../controller/informer.ts";
import type { EndConnections } from "../end-connections.ts";
import type { OperatorConfig, OperatorPorts } from "../ports.ts";
import { apply, type Applied } from "./apply.ts";
import type { Fresh } from "./inputs.ts";
import { HookRuns, type HookOutcome } from "./hook-runs.ts";
import { lookAgainAfterMs } from "./poll.ts";
import { observe } from "./observe.ts";
import { plan } from "./plan.ts";
import { PropReloads } from "./prop-reloads.ts";
import type { Observed } from "./observed.ts";
import { reportBlocked, reportWaiting } from "./report.ts";
import type { SourceResource } from "./resources.ts";
import type { Slugs } from "./slugs.ts";
import type { Step } from "./step.ts";
import { UpdateAttempts } from "./update-attempts.ts";

/** More rounds than any life of a source has; beyond that a plan does not converge and we say so. */
const mostRounds = 20;

/** Observe, plan, apply, until nothing is left to do or a hook is waited for. */
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
    for (let round = 0; round < mostRounds; round++) {
      let source = await ports.store.find(sourceKind, namespace, name);
      if (source === undefined) return;
      const seen = { ...(await observe(source, ports)), reloaded: reloads.find(source) };
      const observed = { ...seen, failure: attempts.failureOf(seen) };
      const steps = plan(observed, { ...fresh(source, config, ports, slugs), retryHook: attempts.isRetryDue(observed) });
      if (steps.length === 0) {
        hooks.forget(source.status.id ?? "");
        return earliest(lookAgainAfterMs(observed, config, ports), attempts.retryAfterMs(observed));
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
    throw new Invariant(`source ${key} is not settled after ${mostRounds} plans`);
  };

  /** A step that will never succeed fails the update that it belongs to: the next plan returns to the version before. */
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

/** Others get their turn meanwhile. Most hooks end within seconds; one that is overdue has no runner, or more than one is too slow. */
async function waitForHook(
  { hook }: Extract<Step, { do: "run-hook" }>,
  { askedAt, justAsked }: Extract<HookOutcome, { ran: false }>,
  source: SourceResource,
  config: OperatorConfig,
  ports: OperatorPorts,
): Promise<number> {
  const waitedMs = ports.clock.now() - askedAt;
  const since = new Date(askedAt).toISOString();
  const told =
    waitedMs < config.hookTimeoutMs
      ? reportWaiting({ source }, hook, "HookRunning", `was asked for at ${since}`)
      : reportWaiting({ source }, hook, "HookOverdue", `was asked for at ${since} and has not run: is a runner up?`);
  if (justAsked && source.metadata.deletionTimestamp !== undefined) tellDeletionWaits(hook, source, config, ports);
  for (const step of told) if (step.do === "report") await apply(step, source, ports);
  return waitedMs < 30_000 ? 500 : 5_000;
}

/** Others get their turn meanwhile: the call may take as long as its time limit, or wait for a pool to wake. */
async function waitForProps(observed: Observed, ports: OperatorPorts): Promise<number> {
  const message = "additionalProps of its component was called and has not ended: is a runner up?";
  for (const step of reportBlocked(observed, { reason: "AdditionalPropsPending", message, passing: true }))
    if (step.do === "report") await apply(step, observed.source, ports);
  return 500;
}

function tellDeletionWaits(hook: string, source: SourceResource, { hookTimeoutMs }: OperatorConfig, { events }: OperatorPorts): void {
  const patience = `for ${Math.round(hookTimeoutMs / 1_000)} s at most`;
  events.tell(source, { type: "Normal", reason: "DeletionWaits", message: `its deletion waits for its hook ${hook}, ${patience}` });
}

function fresh(source: SourceResource, config: OperatorConfig, ports: OperatorPorts, slugs: Slugs): Omit<Fresh, "retryHook"> {
  const labelled = source.metadata.labels[labels.id];
  return {
    // Anybody can write a label, and ids are parts of subjects and keys.
    id: labelled !== undefined && isId("source", labelled) ? labelled : ports.newId("source"),
    deployment: ports.newId("deployment"),
    endpointKey: ports.randomKey(),
    nameSlug: source.metadata.deletionTimestamp === undefined ? slugs.claim(source) : (source.status.nameSlug ?? ""),
    ingressUrl: config.ingressUrl,
    deletionPatienceMs: config.hookTimeoutMs,
    now: ports.clock.now(),
  };
}
