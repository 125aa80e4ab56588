import { hasMoved } from "../domain/deployment.ts";
import type { DeploymentCache } from "./deployment-cache.ts";
import { History } from "./history.ts";
import type { RunnerConfig, RunnerPorts } from "./ports.ts";
import type { RanAhead } from "./ran-ahead.ts";
import { execute, type Received } from "./run.ts";

/** In an isolate of its own, on what the last commit left: the source's own isolate is at its run. */
export async function runAhead(
  received: Omit<Received, "skippedTicks">,
  deployments: DeploymentCache,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<RanAhead | undefined> {
  const { invocation, position } = received;
  const apart = `ahead_${position.seq}_${position.index}`;
  try {
    const deployment = await deployments.get(invocation.source, invocation.generation);
    if (deployment === undefined || hasMoved(deployment) || !deployment.active) return undefined;
    const history = new History(deployment.source, deployment.owner, ports.histories);
    await history.load();
    const sandbox: typeof ports.sandbox = {
      ...ports.sandbox,
      execute: (request, onResponse) => ports.sandbox.execute({ ...request, source: apart, revision: apart }, onResponse),
    };
    const whole: Received = { ...received, skippedTicks: 0 };
    const { db } = history.state;
    return { ran: await execute(whole, history, deployment, config, { ...ports, sandbox }), db };
  } catch (error) {
    ports.log.warn({ op: "source.run-ahead", "source.id": invocation.source, err: error }, "a request is answered when its turn comes");
    return undefined;
  } finally {
    ports.sandbox.evict(apart);
  }
}
