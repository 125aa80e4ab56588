import { Unavailable } from "../domain/errors.ts";
import type { Configuration } from "../platform/process/settings/configuration.ts";
import { ownResources } from "../platform/process/settings/sandbox-size.ts";
import { startHealthServer } from "../platform/telemetry/health-server.ts";
import type { Logger } from "../platform/telemetry/logger.ts";
import { processMetrics } from "../platform/telemetry/metrics.ts";
import { runProcessHost } from "../runner/sandbox/processes/host.ts";

/** Runs the process host until this process is asked to end. Its processes end with it: the runner, which ends first, needs none. */
export async function hostSandbox({ healthListen: listen, sandboxSocket }: Configuration, logger: Logger): Promise<void> {
  const end = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => end.abort());
  let isConnected = false;
  const checkReady = async (): Promise<void> => {
    if (!isConnected) throw new Unavailable("not connected to the runner");
  };
  const health = listen && (await startHealthServer({ listen, checkReady, registry: processMetrics() }));
  const onConnected = (isNow: boolean): void => {
    if (isNow !== isConnected)
      logger.info({ op: "sandbox.host", isConnected: isNow }, isNow ? "connected to the runner" : "the runner is gone");
    isConnected = isNow;
  };
  await runProcessHost({ socket: sandboxSocket ?? "", resources: ownResources(), onConnected }, end.signal);
  await health?.stop();
}
