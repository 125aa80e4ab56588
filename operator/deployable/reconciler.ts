import { Invariant } from "../../domain/errors.ts";
import { adoptSecrets } from "../adopt-secrets.ts";
import { parseKey } from "../controller/informer.ts";
import { adopt } from "../controller/ownership.ts";
import type { EndConnections } from "../end-connections.ts";
import { idOf } from "../identity.ts";
import type { OperatorConfig, OperatorPorts } from "../ports.ts";
import type { AnyObserved, Deployable, DeployableStatus, PlanInputs } from "./deployable.ts";
import { reportAccounts } from "./report-accounts.ts";
import { PlanRunner } from "./plan-runner.ts";

/** More rounds than any life cycle needs; beyond that the plan does not converge. */
const maxRounds = 20;

/** Observes, plans and applies until nothing is left to do, or a hook or a call of a component is running. */
export function deployableReconciler<S, T extends DeployableStatus, O extends AnyObserved, Own extends { readonly do: string }>(
  deployable: Deployable<S, T, O, Own>,
  config: OperatorConfig,
  ports: OperatorPorts,
  endConnections: EndConnections = () => Promise.resolve(),
) {
  const { kind, idKind } = deployable;
  const runner = new PlanRunner(deployable, config, ports, endConnections);
  return async (key: string, signal: AbortSignal): Promise<number | undefined> => {
    const { namespace, name } = parseKey(key);
    for (let round = 0; round < maxRounds; round++) {
      const found = await ports.store.find(kind, namespace, name);
      if (found === undefined) return undefined;
      const id = await idOf(ports, kind, found, idKind);
      const isEnding = found.metadata.deletionTimestamp !== undefined;
      const resource = isEnding ? found : await adopt(ports.store, kind, found, id);
      const observed = runner.withMemory(await deployable.observe(resource, id), resource);
      if (round === 0 && observed.owner !== undefined) await adoptSecrets(kind, resource, deployable.references(resource), ports);
      const steps = deployable.plan(observed);
      if (steps.length === 0) {
        if (!isEnding) await reportAccounts(resource, deployable, ports);
        return runner.settled(observed, resource);
      }
      const waitMs = await runner.run(steps, resource, observed, signal);
      if (waitMs !== undefined) return waitMs;
    }
    throw new Invariant(`${idKind} ${key} is not settled after ${maxRounds} plans`);
  };
}

export function planInputs({ ingressUrl }: Pick<OperatorConfig, "ingressUrl">, ports: OperatorPorts): PlanInputs {
  return { deployment: ports.newId("deployment"), endpointKey: ports.randomKey(), ingressUrl, now: ports.clock.now() };
}
