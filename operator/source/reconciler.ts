import { labels } from "../../crds/resource.ts";
import { sourceKind, type SourceResource } from "../../crds/source.ts";
import { Invariant } from "../../domain/errors.ts";
import { isId } from "../../domain/ids.ts";
import { adoptSecrets } from "../adopt-secrets.ts";
import { parseKey } from "../controller/informer.ts";
import type { EndConnections } from "../end-connections.ts";
import type { OperatorConfig, OperatorPorts } from "../ports.ts";
import { PlanRunner } from "./apply/plan-runner.ts";
import type { Slugs } from "./apply/slugs.ts";
import { observe } from "./observe/observe.ts";
import type { PlanInputs } from "./plan/inputs.ts";
import { plan } from "./plan/plan.ts";

/** More rounds than any life cycle needs; beyond that the plan does not converge. */
const maxRounds = 20;

/** Observes, plans and applies until nothing is left to do or a hook is running. */
export function sourceReconciler(
  config: OperatorConfig,
  ports: OperatorPorts,
  slugs: Slugs,
  endConnections: EndConnections = () => Promise.resolve(),
) {
  const runner = new PlanRunner(config, ports, endConnections);
  return async (key: string, signal: AbortSignal): Promise<number | undefined> => {
    const { namespace, name } = parseKey(key);
    for (let round = 0; round < maxRounds; round++) {
      const source = await ports.store.find(sourceKind, namespace, name);
      if (source === undefined) return undefined;
      const observed = runner.withMemory(await observe(source, ports));
      if (round === 0 && observed.owner !== undefined) await adoptSecrets(sourceKind, source, Object.values(source.spec.secrets), ports);
      const steps = plan(observed, { ...planInputs(source, config, ports, slugs), retryHook: runner.isRetryDue(observed) });
      if (steps.length === 0) return runner.settled(observed);
      const waitMs = await runner.run(steps, observed, signal);
      if (waitMs !== undefined) return waitMs;
    }
    throw new Invariant(`source ${key} is not settled after ${maxRounds} plans`);
  };
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
